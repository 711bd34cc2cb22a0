#!/usr/bin/env node
import { startAgent } from './agent.ts';
import type { Executor } from './executor.ts';
import { simulatedExecutor } from './executors/simulated/simulated.ts';
import { openJournal } from './journal.ts';
import { CannotLock, DirectoryInUse } from './lock.ts';
import { createLog, type Log } from './log.ts';
import { readCommand, type RunOptions } from './options.ts';

/** Errors whose message tells the node owner what to do. */
function isForOwner(error: unknown): error is Error {
  if (error instanceof DirectoryInUse || error instanceof CannotLock) return true;
  return error instanceof Error && error.name === 'CannotStartBrowser';
}

/** Ends the process with the message of an error that a node owner can do something about. */
async function orExit<T>(log: Log, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isForOwner(error)) throw error;
    log('error', error.message);
    process.stderr.write(`svc-node: ${error.message}\n`);
    process.exit(1);
  }
}

/** A simulated node loads nothing of the browser. */
async function executorOf(options: RunOptions, log: Log): Promise<Executor> {
  if (options.executor === 'simulated') return simulatedExecutor;
  const { startBrowserExecutor } = await import('./browser-node.ts');
  return await startBrowserExecutor(options, log);
}

async function run(options: RunOptions): Promise<void> {
  const log = createLog(options.id);
  const journal = await orExit(log, openJournal(options.stateDir));
  const executor = await orExit(log, executorOf(options, log));
  const agent = startAgent({
    link: options.link,
    nodeId: options.id,
    secret: options.secret,
    slots: options.slots,
    executors: [executor],
    isSandboxOnly: options.hostMap.size > 0 || options.debugDir !== undefined,
    journal,
    log,
  });
  let isStopping = false;

  /** Drains for `drainMs`, then exits. A second call exits at once. */
  async function stop(why: string, drainMs: number): Promise<void> {
    if (isStopping) process.exit(0);
    isStopping = true;
    log('info', 'stopping', { why });
    const isDone = await agent.drain(drainMs);
    if (!isDone)
      log('warn', 'stopped with unfinished submissions, which are reported after a restart');
    await agent.close();
    await journal.close();
    process.exit(0);
  }

  const drainMs = options.drainSeconds * 1000;
  process.on('SIGTERM', () => void stop('SIGTERM', drainMs));
  process.on('SIGINT', () => void stop('SIGINT', drainMs));
  if (process.channel !== undefined) process.on('disconnect', () => void stop('parent gone', 0));
}

const command = readCommand(process.argv);
if (command.kind === 'run') {
  await run(command.options);
} else {
  const { doctor } = await import('./doctor/doctor.ts');
  process.exitCode = await doctor(command.options);
}
