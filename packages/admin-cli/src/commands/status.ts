import { closeRedis, connectRedis, readQueueStatus, waitForRedis } from '@svc/queue';
import { countInFlight, databaseNow, listNodes } from '@svc/store';
import type { Command } from 'commander';
import { describeCommand } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { type OutputOptions, printJson, printList, printRecord } from '../output.ts';

const redisWaitMs = 2_000;
const nodesCountedMax = 10_000;
/** A node that said hello or was heard of in this time counts as recently seen. */
const nodesSeenWithinMs = 24 * 3_600_000;

/** `svc status` (CONTRACT.md section 9). */
export function addStatusCommand(command: Command): void {
  describeCommand(command, {
    does: 'what is under way: database, queues, submissions, deliveries, nodes',
    examples: ['svc status'],
  }).action((options: OutputOptions) => withContext((context) => status(context, options)));
}

async function status(context: Context, options: OutputOptions): Promise<void> {
  const { configuration, store } = context;
  const now = await databaseNow(store);
  const inFlight = await countInFlight(store);
  const nodes = await listNodes(store, { before: null, limit: nodesCountedMax });
  const seen = nodes.filter(
    ({ lastSeenAt }) =>
      lastSeenAt !== null && now.getTime() - lastSeenAt.getTime() < nodesSeenWithinMs,
  );
  const queues = await queueStatus(context);
  const summary = {
    environment: configuration.SVC_ENVIRONMENT,
    database: 'reachable',
    databaseTime: now,
    redis: queues === null ? 'not reachable' : 'reachable',
    submissions: inFlight.submissions,
    deliveries: { pending: inFlight.deliveriesPending, due: inFlight.deliveriesDue },
    nodes: { known: nodes.length, seenLastDay: seen.length },
  };
  if (options.json === true) return printJson({ ...summary, queues });
  printRecord(summary, options);
  if (queues === null) return;
  process.stdout.write('\n');
  printList(
    queues.map((queue) => ({ ...queue })),
    ['queue', 'waiting', 'active', 'delayed', 'failed'],
    options,
  );
}

async function queueStatus({ configuration }: Context) {
  if (configuration.REDIS_URL === undefined) return null;
  const redis = connectRedis(configuration.REDIS_URL, 'producer');
  try {
    if (!(await waitForRedis(redis, redisWaitMs))) return null;
    return await readQueueStatus(redis, configuration.REDIS_PREFIX);
  } finally {
    await closeRedis(redis);
  }
}
