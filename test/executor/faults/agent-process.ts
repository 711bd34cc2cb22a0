import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cleanEnvironment } from '@svc/testkit';
import type { HostMap } from '../../../packages/node-agent/src/executors/browser/egress/destination.ts';
import { nodeId } from './link-end.ts';

const checkout = path.resolve(import.meta.dirname, '../../..');
const keepCompiled = path.join(checkout, 'test/executor/keep-compiled.ts');
const bugPreload = path.join(checkout, 'test/faults/injected-bugs/bug-preload.ts');

export interface AgentOptions {
  readonly link: string;
  readonly stateDir: string;
  /** The value of both HOME and TMPDIR. */
  readonly homeDir: string;
  readonly binary: string;
  readonly hosts: HostMap;
  readonly slots: number;
  /** The file that the agent starts from: its source or its bundle. */
  readonly entry: string;
  /** The name of an injected bug. If given, `entry` must be the source of the agent. */
  readonly bug?: string;
}

export interface AgentProcess {
  /** Kills the child processes of the agent: the main processes of its browsers. */
  killBrowsers(): void;
  isRunning(): boolean;
  readonly exited: Promise<unknown>;
  /** Returns what the agent wrote since the last call. */
  takeLog(): string;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/u.test(name) && parentOf(name) === pid)
    .map(Number);
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function flagsOf({ binary, hosts }: AgentOptions): string[] {
  const maps = [...hosts].flatMap(([name, { address, port }]) => [
    '--map-host',
    `${name}=${address}:${port}`,
  ]);
  return ['--executor', 'browser', '--browser', binary, '--no-browser-sandbox', ...maps];
}

export function startAgentProcess(options: AgentOptions): AgentProcess {
  const preloads = [keepCompiled, ...(options.bug === undefined ? [] : [bugPreload])];
  const imports = preloads.flatMap((file) => ['--import', file]);
  const child: ChildProcess = spawn(
    process.execPath,
    [...imports, options.entry, ...flagsOf(options)],
    {
      cwd: checkout,
      env: {
        ...cleanEnvironment(),
        // V8 reuses compiled code only in a process with the same V8 options. The agents of other
        // tests have other options, so this agent uses a separate cache.
        NODE_COMPILE_CACHE: path.join(checkout, '.local/cache/compile-killed'),
        HOME: options.homeDir,
        TMPDIR: options.homeDir,
        SVC_NODE_LINK: options.link,
        SVC_NODE_ID: nodeId,
        SVC_NODE_SECRET: 'nsk_secret',
        SVC_NODE_SLOTS: `${options.slots}`,
        SVC_NODE_STATE_DIR: options.stateDir,
        ...(options.bug !== undefined && { FAULTS_BUG: options.bug }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const output: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => output.push(chunk));
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const exited = once(child, 'exit');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!isRunning()) return;
    child.kill(signal);
    await exited;
  };
  return {
    killBrowsers() {
      for (const pid of child.pid === undefined ? [] : childrenOf(child.pid)) killIfRunning(pid);
    },
    isRunning,
    exited,
    takeLog: () => Buffer.concat(output.splice(0)).toString('utf8'),
    kill: () => end('SIGKILL'),
    async stop() {
      // The second signal ends the agent without waiting for its submissions.
      if (isRunning()) child.kill('SIGTERM');
      await end('SIGTERM');
    },
  };
}
