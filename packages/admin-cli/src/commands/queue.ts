import { pauseQueue, queueKeys, readQueueStatus, resumeQueue, retryFailedJobs } from '@svc/queue';
import { type ReconcilerName, retryReconcileFailures, withAudit } from '@svc/store';
import { type Command, InvalidArgumentError } from 'commander';
import { addCommand, type CommandOptions } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { printRecord } from '../output.ts';
import { createProgress } from '../progress.ts';
import { type RedisContext, withRedis } from '../redis.ts';
import { printQueues } from './queue-table.ts';

type QueueKey = (typeof queueKeys)[number];

/** `svc queue …` (CONTRACT 9). */
export function addQueueCommands(queue: Command): void {
  addCommand(queue, 'status', {
    does: 'show the job counts of each queue',
    examples: ['svc queue status'],
  }).action((options: CommandOptions) =>
    withContext((context) =>
      withRedis(context, async ({ redis, prefix }) =>
        printQueues(await readQueueStatus(redis, prefix), options),
      ),
    ),
  );
  addCommand(queue, 'pause', {
    does: 'pause a queue; active jobs finish and new ones wait',
    examples: ['svc queue pause webhook'],
  })
    .argument('<queue>', queueKeys.join(', '), queueArgument)
    .action((key: QueueKey, options: CommandOptions) =>
      withContext((context) => setPaused(context, key, true, options)),
    );
  addCommand(queue, 'resume', {
    does: 'resume a paused queue',
    examples: ['svc queue resume webhook'],
  })
    .argument('<queue>', queueKeys.join(', '), queueArgument)
    .action((key: QueueKey, options: CommandOptions) =>
      withContext((context) => setPaused(context, key, false, options)),
    );
  addCommand(queue, 'retry-failed', {
    does: 'retry the failed jobs of a queue, and the rows that its reconcilers could not repair',
    examples: ['svc queue retry-failed settlement'],
  })
    .argument('<queue>', queueKeys.join(', '), queueArgument)
    .action((key: QueueKey, options: CommandOptions) =>
      withContext((context) => retryFailed(context, key, options)),
    );
}

function queueArgument(text: string): QueueKey {
  const key = queueKeys.find((known) => text === known || text === `${known}.v1`);
  if (key === undefined)
    throw new InvalidArgumentError(`It must be one of ${queueKeys.join(', ')}.`);
  return key;
}

function setPaused(
  context: Context,
  key: QueueKey,
  paused: boolean,
  options: CommandOptions,
): Promise<void> {
  return withRedis(context, async ({ redis, prefix }) => {
    const action = paused ? 'queue.pause' : 'queue.resume';
    const change = paused ? pauseQueue : resumeQueue;
    await audited(context, action, key, () => change(redis, prefix, key));
    await printOne({ redis, prefix }, key, {}, options);
  });
}

function retryFailed(context: Context, key: QueueKey, options: CommandOptions): Promise<void> {
  return withRedis(context, async ({ redis, prefix }) => {
    const failed = await failedIn({ redis, prefix }, key);
    const progress = createProgress('Retrying', failed, options);
    await audited(context, 'queue.retry_failed', key, async () => {});
    const retried = await retryFailedJobs(redis, prefix, key, (left) =>
      progress.show(failed - left),
    );
    progress.end();
    const reconciled = await retryPutOff(context, key);
    await printOne({ redis, prefix }, key, { retried, ...reconciled }, options);
  });
}

const reconcilersOf: Partial<Record<QueueKey, readonly ReconcilerName[]>> = {
  settlement: ['settlement', 'purge'],
  webhook: ['webhook'],
};

/**
 * Ends the backoff of all rows that the queue's reconcilers could not repair. `madeDue` is the
 * number of rows that were in backoff, and is missing without a reconciler.
 */
async function retryPutOff({ store }: Context, key: QueueKey): Promise<{ madeDue?: number }> {
  const reconcilers = reconcilersOf[key];
  if (reconcilers === undefined) return {};
  let madeDue = 0;
  for (const name of reconcilers) madeDue += await retryReconcileFailures(store, name);
  return { madeDue };
}

function audited(
  { store, by }: Context,
  action: string,
  key: QueueKey,
  act: () => Promise<void>,
): Promise<void> {
  const subject = { kind: 'service', id: `queue:${key}` } as const;
  return withAudit(store, { action, subject, before: null, after: null }, by, act);
}

type Queues = Pick<RedisContext, 'redis' | 'prefix'>;

async function statusOf({ redis, prefix }: Queues, key: QueueKey) {
  const found = (await readQueueStatus(redis, prefix)).find(({ queue }) => queue.startsWith(key));
  if (found === undefined) throw new Error(`the queue ${key} has no status`);
  return found;
}

async function failedIn(queues: Queues, key: QueueKey): Promise<number> {
  return (await statusOf(queues, key)).failed;
}

async function printOne(
  queues: Queues,
  key: QueueKey,
  more: object,
  options: CommandOptions,
): Promise<void> {
  printRecord({ ...(await statusOf(queues, key)), ...more }, options);
}
