import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { options } from '../options.ts';

const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).trim();

export function aboutThisRun(serverVersions: Readonly<Record<string, string>>): object {
  const [cpu] = os.cpus();
  return {
    at: new Date().toISOString(),
    commit: git('rev-parse', 'HEAD'),
    changedSince: git('status', '--porcelain', '-uno') !== '',
    machine: {
      cpu: cpu?.model,
      cores: os.cpus().length,
      memoryMib: Math.round(os.totalmem() / 2 ** 20),
      loadAverage: os.loadavg(),
    },
    versions: {
      node: process.version,
      os: `${os.type()} ${os.release()}`,
      ...serverVersions,
    },
    options,
  };
}
