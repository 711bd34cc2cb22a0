import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describeExit, isAlive, stopChild } from './child.ts';

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

const pollMs = 10;
const readyBoundMs = 60_000;
const stopBoundMs = 20_000;
const logTailLines = 15;

export interface ServerCommand {
  readonly name: string;
  readonly command: string[];
  readonly env?: NodeJS.ProcessEnv;
  /** The file for the output of the server. Each start of the server truncates the file. */
  readonly logFile: string;
  readonly stopSignal: NodeJS.Signals;
  isReady(pid: number): Promise<boolean>;
}

/**
 * Starts a server and waits until it is ready. If the server exits or is not ready in time, stops
 * it and throws an error with the end of its log.
 */
export async function startServer(
  server: ServerCommand,
): Promise<{ pid: number; stop: () => Promise<void> }> {
  const child = spawnServer(server);
  const stop = () => stopChild(child, server.stopSignal, stopBoundMs);
  try {
    await untilReady(server, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid ?? 0, stop };
}

function spawnServer({ command, env, logFile }: ServerCommand): ChildProcess {
  const log = openSync(logFile, 'w', 0o600);
  const [file = '', ...args] = command;
  // The server gets its own process group. Ctrl-C then reaches only the launcher, which stops the
  // services before the servers.
  const child = spawn(file, args, {
    stdio: ['ignore', log, log],
    detached: true,
    env: { ...process.env, ...env },
  });
  closeSync(log);
  return child;
}

async function untilReady(server: ServerCommand, child: ChildProcess): Promise<void> {
  let spawnError: Error | undefined;
  child.once('error', (error) => (spawnError = error));
  const startedMs = performance.now();
  while (performance.now() - startedMs < readyBoundMs) {
    if (spawnError !== undefined) throw spawnError;
    if (!isAlive(child)) {
      throw new Error(`${server.name} ${describeExit(child)}\n${logTail(server.logFile)}`);
    }
    if (await server.isReady(child.pid ?? 0)) return;
    await delay(pollMs);
  }
  throw new Error(
    `${server.name} was not ready within ${readyBoundMs} ms\n${logTail(server.logFile)}`,
  );
}

function logTail(file: string): string {
  if (!existsSync(file)) return '';
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return [`${file} ends with:`, ...lines.slice(-logTailLines)].join('\n');
}

/**
 * Runs `start` until it succeeds, or throws the last error after `attemptsMax` failures. Each run
 * must use a new port, because another program may take a free port first.
 */
export async function withRetries<T>(attemptsMax: number, start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (attempt >= attemptsMax) throw error;
    }
  }
}
