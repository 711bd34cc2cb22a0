#!/usr/bin/env node
import { startAgent } from './agent.ts';
import type { Executor } from './executor.ts';
import { simulatedExecutor } from './executors/simulated/simulated.ts';
import { openHistory } from './history.ts';
import { openJournal } from './journal.ts';
import { CannotLock, DirectoryInUse } from './lock.ts';
import { createLog, type Log } from './log.ts';
import { createObservedAddresses, type ObservedAddresses } from './observed-addresses.ts';
import { onlyAt } from './only-at.ts';
import { readCommand, type RunOptions, wrongConfigurationStatus } from './options.ts';

/** The error codes if a directory cannot be created or written. `EEXIST`: its path is a file. */
const unwritableCodes = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST'];

interface CannotStart {
  readonly sentence: string;
  readonly status: number;
}

/** The message for the node owner. Undefined for an error that the owner cannot fix. */
function refusalOf(error: unknown, stateDir: string): CannotStart | undefined {
  if (!(error instanceof Error)) return undefined;
  const isForOwner = error instanceof DirectoryInUse || error instanceof CannotLock;
  // The check for `CannotStartBrowser` uses the name, because only a node with a browser loads the
  // class.
  if (isForOwner || error.name === 'CannotStartBrowser')
    return { sentence: error.message, status: 1 };
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC') {
    const sentence = `The disk of ${stateDir} is full. Free some space on this disk.`;
    return { sentence, status: 1 };
  }
  if (typeof code !== 'string' || !unwritableCodes.includes(code)) return undefined;
  const sentence = `${stateDir} cannot be written. Set --state-dir to a directory that this user can write to.`;
  return { sentence, status: wrongConfigurationStatus };
}

/**
 * Returns the result of `work`. If it fails for a reason that the node owner can fix, prints a
 * sentence and exits with 1, or with 2 if an option is wrong.
 */
async function orExit<T>({ stateDir }: RunOptions, log: Log, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const refusal = refusalOf(error, stateDir);
    if (refusal === undefined) throw error;
    const { sentence, status } = refusal;
    log('error', sentence, { event: 'node.cannot_start' });
    process.stderr.write(`svc-node: ${sentence}\n`);
    process.exit(status);
  }
}

/** A simulated node does not load the modules that start a browser. */
async function executorOf(
  options: RunOptions,
  observed: ObservedAddresses,
  log: Log,
): Promise<Executor> {
  if (options.executor === 'simulated') return onlyAt(options.onlyHosts, simulatedExecutor);
  const { startBrowserExecutor } = await import('./browser-node.ts');
  return onlyAt(options.onlyHosts, await startBrowserExecutor(options, observed, log));
}

async function run(options: RunOptions): Promise<void> {
  const log = createLog(options.id);
  const observed = createObservedAddresses();
  const journal = await orExit(options, log, openJournal(options.stateDir));
  const history = await orExit(options, log, openHistory(options.stateDir));
  const executor = await orExit(options, log, executorOf(options, observed, log));
  const agent = startAgent({
    link: options.link,
    nodeId: options.id,
    secret: options.secret,
    slots: options.slots,
    executors: [executor],
    isSandboxOnly: options.hostMap.size > 0 || options.debugDir !== undefined,
    journal,
    history,
    observed,
    log,
  });
  let isStopping = false;

  async function stop(why: string, drainMs: number): Promise<void> {
    if (isStopping) process.exit(0);
    isStopping = true;
    log('info', 'stopping', { why });
    const isDone = await agent.drain(drainMs);
    if (!isDone)
      log(
        'warn',
        'stopped before the drain was finished; the node reports unfinished submissions after a restart',
      );
    await agent.close();
    await history.close();
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
