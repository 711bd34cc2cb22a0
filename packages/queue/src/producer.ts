import { randomUUID } from 'node:crypto';

import { jobIdsMax, queues, type HeldFacts, type JobOf, type QueueKey } from '@svc/contracts';
import { Queue, type JobsOptions } from 'bullmq';
import type { Redis } from 'ioredis';

import { joinWaitingAlarm } from './delivery-alarms.ts';
import { createGatherer } from './gather.ts';
import { assertJob } from './job-schemas.ts';
import { keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

/** Redis cannot be reached, or did not answer in time. The job may still have been added. */
export class QueueUnavailable extends Error {
  override readonly name = 'QueueUnavailable';
}

export interface EnqueueOptions {
  /** 1 is first. Jobs without one run before all that have one: use it in a queue always or never. */
  readonly priority?: number;
  readonly delayMs?: number;
  /** Of one's own; without it the job gets a fresh random one, which nothing can swallow. */
  readonly jobId?: string;
}

export interface Producer {
  /** Throws `QueueUnavailable`, or `InvalidJob` for a payload against its schema. */
  enqueue<K extends QueueKey>(key: K, job: JobOf[K], options?: EnqueueOptions): Promise<void>;
  enqueueBulk<K extends QueueKey>(
    key: K,
    jobs: readonly { readonly job: JobOf[K]; readonly options?: EnqueueOptions }[],
  ): Promise<void>;
  /** How many jobs wait to be taken, delayed ones not counted. Throws `QueueUnavailable`. */
  countWaiting(key: QueueKey): Promise<number>;
  /** Whether an operator has paused the queue. Throws `QueueUnavailable`. */
  isPaused(key: QueueKey): Promise<boolean>;
  /** Of `announceDeliveries`: false where no job waits that rings for them. Throws `QueueUnavailable`. */
  joinWaitingAlarm(tenantIds: readonly string[]): Promise<boolean>;
  close(): Promise<void>;
}

/** How many failed jobs stay parked for an operator to see, and for how long. */
const failedJobsMax = 1_000;
const failedJobAgeSecondsMax = 7 * 24 * 3600;
const retryBackoffMs = 1_000;
const eventStreamLengthMax = 1_000;

function jobOptions(key: QueueKey, options: EnqueueOptions): JobsOptions {
  const { attemptsMax } = queues[key];
  return {
    // A random id and not BullMQ's counter: that starts again from 1 after FLUSHALL, while a
    // worker may still have an older job of the same number in hand.
    jobId: options.jobId ?? randomUUID(),
    attempts: attemptsMax,
    ...(attemptsMax > 1 ? { backoff: { type: 'exponential', delay: retryBackoffMs } } : {}),
    ...(options.priority === undefined ? {} : { priority: options.priority }),
    ...(options.delayMs === undefined ? {} : { delay: Math.round(options.delayMs) }),
    removeOnComplete: true,
    removeOnFail: { count: failedJobsMax, age: failedJobAgeSecondsMax },
  };
}

/**
 * Puts jobs on the queues of the catalogue (docs/decisions/0001). Always after the
 * commit that it tells of, never before: a job is an alarm clock, and a lost one is mended by the
 * reconciler of its queue. The connection (of role `producer`) stays the caller's to close.
 */
export function createProducer({
  redis,
  prefix,
  logger,
}: {
  readonly redis: Redis;
  readonly prefix: string;
  readonly logger?: QueueLogger;
}): Producer {
  const open = new Map<QueueKey, Queue>();

  function queueOf(key: QueueKey): Queue {
    const found = open.get(key);
    if (found !== undefined) return found;
    const queue = new Queue(queues[key].name, {
      connection: redis,
      prefix: keyPrefix(prefix),
      // Neither waits for the connection nor asks for the version: a queue that failed in either
      // would never recover, and while Redis is away a caller has to be told at once.
      skipWaitingForReady: true,
      skipVersionCheck: true,
      streams: { events: { maxLen: eventStreamLengthMax } },
    });
    queue.on('error', (error) => logger?.warn({ err: error, queue: key }, 'queue error'));
    open.set(key, queue);
    return queue;
  }

  async function ask<T>(key: QueueKey, question: (queue: Queue) => Promise<T>): Promise<T> {
    if (!redisIsReady(redis)) throw new QueueUnavailable(`${key}: not connected to Redis`);
    try {
      return await question(queueOf(key));
    } catch (error) {
      throw new QueueUnavailable(`${key}: Redis did not do it`, { cause: error });
    }
  }

  return {
    async enqueue(key, job, options = {}) {
      assertJob(key, job);
      await ask(key, (queue) => queue.add(queues[key].name, job, jobOptions(key, options)));
    },
    async enqueueBulk(key, jobs) {
      if (jobs.length === 0) return;
      for (const { job } of jobs) assertJob(key, job);
      await ask(key, (queue) =>
        queue.addBulk(
          jobs.map(({ job, options = {} }) => ({
            name: queues[key].name,
            data: job,
            opts: jobOptions(key, options),
          })),
        ),
      );
    },
    async countWaiting(key) {
      return await ask(key, (queue) => queue.getJobCountByTypes('wait', 'prioritized'));
    },
    async isPaused(key) {
      return await ask(key, (queue) => queue.isPaused());
    },
    async joinWaitingAlarm(tenantIds) {
      return await ask('webhook', () => joinWaitingAlarm(redis, prefix, tenantIds));
    },
    async close() {
      await Promise.all([...open.values()].map((queue) => queue.close()));
      open.clear();
    },
  };
}

function batches<Item>(items: readonly Item[]): Item[][] {
  const found: Item[][] = [];
  for (let start = 0; start < items.length; start += jobIdsMax) {
    found.push(items.slice(start, start + jobIdsMax));
  }
  return found;
}

/** A submission whose hold is committed, with what the offering of it needs to know. */
export interface HeldToDispatch extends HeldFacts {
  readonly submissionId: string;
}

/** Puts a held submission on the dispatch queue. Rejects with `QueueUnavailable`. */
export type EnqueueDispatch = (held: HeldToDispatch, priority: number) => Promise<void>;

/**
 * Submissions of one priority that are held in the same turn share a job, at most `jobIdsMax` to
 * each; whoever takes it tells `replyTo`. `nowMs`: Unix time.
 */
export function createDispatchEnqueuer(
  producer: Producer,
  { replyTo, nowMs }: { readonly replyTo: string; readonly nowMs: () => number },
): EnqueueDispatch {
  const gather = createGatherer<HeldToDispatch>((priority, gathered) =>
    producer.enqueueBulk(
      'dispatch',
      batches(gathered).map((batch) => ({
        job: {
          submissionIds: batch.map(({ submissionId }) => submissionId),
          replyTo,
          held: {
            sentAtMs: Math.round(nowMs()),
            each: batch.map(({ heldAtMs, facts }) => ({ heldAtMs, facts })),
          },
        },
        options: { priority: Number(priority) },
      })),
    ),
  );
  return (held, priority) => gather(String(priority), held);
}

const settlementGatherers = new WeakMap<Producer, (key: string, id: string) => Promise<void>>();

function settlementGathererOf(producer: Producer): (key: string, id: string) => Promise<void> {
  const found = settlementGatherers.get(producer);
  if (found !== undefined) return found;
  const gather = createGatherer<string>((_key, submissionIds) =>
    producer.enqueueBulk(
      'settlement',
      batches(submissionIds).map((batch) => ({ job: { submissionIds: batch } })),
    ),
  );
  settlementGatherers.set(producer, gather);
  return gather;
}

/**
 * Puts any number of submissions on the settlement queue. What one process asks for in the same turn
 * shares jobs, at most `jobIdsMax` to each. Rejects with `QueueUnavailable`.
 */
export async function enqueueSettlements(
  producer: Producer,
  submissionIds: readonly string[],
): Promise<void> {
  const gather = settlementGathererOf(producer);
  await Promise.all(submissionIds.map((id) => gather('settlement', id)));
}

/**
 * Tells the deliverers that these tenants have deliveries that are due; after the commit that made
 * them so. Throws `QueueUnavailable`; what is not announced is found in Postgres.
 */
export async function announceDeliveries(
  producer: Producer,
  tenantIds: readonly string[],
): Promise<void> {
  const all = [...new Set(tenantIds)];
  for (let start = 0; start < all.length; start += jobIdsMax) {
    const some = all.slice(start, start + jobIdsMax);
    const joined = await producer.joinWaitingAlarm(some);
    if (!joined) await producer.enqueue('webhook', { tenantIds: some });
  }
}
