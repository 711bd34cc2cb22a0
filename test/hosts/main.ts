import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dieWithParent, redisBinary } from '@svc/local';
import { debianPostgres } from '../failover/debian-postgres.ts';
import { size } from '../faults/sizes.ts';
import { hostOf, inside, type Layout, layoutOf, runName } from './layout.ts';
import { closeNetwork, openNetwork, removeStale } from './network.ts';
import { readOptions } from './options.ts';
import { obstacle } from './requirements.ts';

/**
 * `pnpm hosts`: makes a network of namespaces, runs the trial in it, and removes the network. The
 * trial is a separate process, so the network is removed even if the trial crashes.
 */
const say = (line: string) => void process.stdout.write(`${line}\n`);
const options = readOptions(process.argv.slice(2));
const why = obstacle();
if (why === undefined) process.exitCode = await run();
else say(`skipped: ${why}; 0 partitions`);

async function run(): Promise<number> {
  const stale = removeStale();
  if (stale.length > 0)
    say(`removed the network namespaces of killed runs (process ids ${stale.join(', ')})`);
  // Fetch the programs first, because the namespaces have no way to the package servers.
  await Promise.all([debianPostgres(), redisBinary()]);
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-partitions-'));
  let trial: ChildProcess | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => (trial === undefined ? process.exit(1) : trial.kill('SIGTERM')));
  process.once('exit', () => {
    closeNetwork(process.pid);
    rmSync(dir, { recursive: true, force: true });
  });
  const layout = layoutOf(runName(process.pid), size);
  openNetwork(layout);
  trial = startTrial(layout, dir);
  await once(trial, 'exit');
  if (trial.exitCode === null) say(`BROKEN: the trial was ended by ${trial.signalCode}`);
  return trial.exitCode ?? 1;
}

function startTrial(layout: Layout, dir: string): ChildProcess {
  const trial = [process.execPath, path.join(import.meta.dirname, 'inside.ts'), `${process.pid}`];
  // The trial must use the seed of this process. The seed is appended, because the last `--seed`
  // counts.
  const args = [...process.argv.slice(2), '--seed', `${options.seed}`];
  const command = [...inside(hostOf(layout, 'tenants')), ...dieWithParent('TERM'), ...trial];
  return spawn('env', [...command, ...args], {
    env: { ...process.env, TMPDIR: dir },
    stdio: ['ignore', 'inherit', 'inherit'],
    // With `detached`, Ctrl-C does not reach the trial. This process gets the signal, and sends
    // SIGTERM to the trial.
    detached: true,
  });
}
