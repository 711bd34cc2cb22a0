#!/usr/bin/env node
import { startAgent } from './agent.ts';
import { simulatedExecutor } from './executors/simulated/simulated.ts';
import { openJournal } from './journal.ts';
import { CannotLock, DirectoryInUse } from './lock.ts';
import { createLog } from './log.ts';
import { readOptions } from './options.ts';

const options = readOptions(process.argv);
const log = createLog(options.id);

async function open() {
  try {
    return await openJournal(options.stateDir);
  } catch (error) {
    if (!(error instanceof DirectoryInUse) && !(error instanceof CannotLock)) throw error;
    log('error', error.message);
    process.exit(1);
  }
}

const journal = await open();
const agent = startAgent({
  link: options.link,
  nodeId: options.id,
  secret: options.secret,
  slots: options.slots,
  executors: [simulatedExecutor],
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
