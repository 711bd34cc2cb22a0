import { randomUUID } from 'node:crypto';
import { jobIdsMax, queues, type HeldFacts, type JobOf, type QueueKey } from '@svc/contracts';
import { Queue, type JobsOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { joinWaitingWakeUp } from './delivery-wake-ups.ts';
import { createGatherer } from './gather.ts';
import { assertJob } from './job-schemas.ts';
import { withTenantsInName } from './job-tenants.ts';
import { keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

/**
 * There is no connection to Redis, or a Redis command failed or got no answer in time. The jobs of
 * such a command may have been added.
 */
export class QueueUnavailable extends Error {
  override readonly name = 'QueueUnavailable';
}

export interface EnqueueOptions {
  /**
   * 1 is the highest priority. Jobs without a priority run before all jobs with a priority.
   * Therefore give a priority to all jobs of a queue or to none.
   */
  readonly priority?: number;
  readonly delayMs?: number;
  /** The default is a new random id, so that BullMQ never drops the job as a duplicate. */
  readonly jobId?: string;
}

export interface Producer {
  /** Throws `QueueUnavailable`, or `InvalidJob` if the payload violates its schema. */
  enqueue<K extends QueueKey>(key: K, job: JobOf[K], options?: EnqueueOptions): Promise<void>;
  enqueueBulk<K extends QueueKey>(
    key: K,
    jobs: readonly { readonly job: JobOf[K]; readonly options?: EnqueueOptions }[],
  ): Promise<void>;
  /** The number of waiting jobs, without delayed ones. Throws `QueueUnavailable`. */
  countWaiting(key: QueueKey): Promise<number>;
  /** True if an operator has paused the queue. Throws `QueueUnavailable`. */
  isPaused(key: QueueKey): Promise<boolean>;
  /**
   * Adds tenants to the waiting wake-up job. Returns false if no job waits. If the job has too many
   * tenants, adds none and returns true. Throws `QueueUnavailable`.
   */
  joinWaitingWakeUp(tenantIds: readonly string[]): Promise<boolean>;
  close(): Promise<void>;
}

/** Each queue keeps at most this many failed jobs, so that an operator can look at them. */
const failedJobsMax = 1_000;
/** A job that failed longer ago than this is deleted when the next job of its queue fails. */
const failedJobAgeSecondsMax = 7 * 24 * 3600;
const retryBackoffMs = 1_000;
const eventStreamLengthMax = 1_000;

function jobOptions(key: QueueKey, options: EnqueueOptions): JobsOptions {
  const { attemptsMax } = queues[key];
  return {
    // The id is random, because BullMQ's counter restarts after a FLUSHALL. A new job could then
    // get the number of an older job that a worker still runs.
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
 * Enqueue a job only after the commit that it announces. A job may be lost; reconcilers then find
 * its work. The caller closes `redis` (of role `producer`).
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
      // Without these two options, a queue would stay broken after a failed wait for Redis or a
      // failed version check. Callers would also wait while Redis is unreachable.
      skipWaitingForReady: true,
      skipVersionCheck: true,
      streams: { events: { maxLen: eventStreamLengthMax } },
    });
    queue.on('error', (error) => logger?.warn({ err: error, queue: key }, 'queue error'));
    open.set(key, queue);
    return queue;
  }

  async function ask<T>(key: QueueKey, question: (queue: Queue) => Promise<T>): Promise<T> {
    if (!redisIsReady(redis))
      throw new QueueUnavailable(
        `the queue ${key} cannot be used: there is no connection to Redis`,
      );
    try {
      return await question(queueOf(key));
    } catch (error) {
      throw new QueueUnavailable(`a Redis command for the queue ${key} failed`, { cause: error });
    }
  }

  async function enqueueBulk<K extends QueueKey>(
    key: K,
    jobs: readonly { readonly job: JobOf[K]; readonly options?: EnqueueOptions }[],
  ): Promise<void> {
    for (const { job } of jobs) assertJob(key, job);
    const made = jobs.map(({ job, options = {} }) => ({
      ...withTenantsInName(key, job),
      opts: jobOptions(key, options),
    }));
    const [first, ...others] = made;
    if (first === undefined) return;
    const { name, data, opts } = first;
    // A single job is sent by `add`, because the transaction of `addBulk` takes 1.5 times the CPU.
    await ask<unknown>(key, (queue) =>
      others.length === 0 ? queue.add(name, data, opts) : queue.addBulk(made),
    );
  }

  return {
    enqueue: (key, job, options = {}) => enqueueBulk(key, [{ job, options }]),
    enqueueBulk,
    async countWaiting(key) {
      return await ask(key, (queue) => queue.getJobCountByTypes('wait', 'prioritized'));
    },
    async isPaused(key) {
      return await ask(key, (queue) => queue.isPaused());
    },
    async joinWaitingWakeUp(tenantIds) {
      return await ask('webhook', () => joinWaitingWakeUp(redis, prefix, tenantIds));
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

/** A submission with a committed hold, and the facts with which a dispatcher makes its offers. */
export interface HeldToDispatch extends HeldFacts {
  readonly submissionId: string;
}

/**
 * Enqueues the dispatch job of a submission. Rejects with `QueueUnavailable` if Redis does not
 * confirm the job. The job may still have been added.
 */
export type EnqueueDispatch = (held: HeldToDispatch, priority: number) => Promise<void>;

/**
 * Submissions of the same priority share jobs of at most `jobIdsMax` submissions
 * (`createGatherer`). `nowMs` returns Unix time in milliseconds.
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
            each: batch.map(({ heldAtMs, facts, tenantId }) => ({
              heldAtMs,
              facts,
              ...(tenantId === undefined ? {} : { tenantId }),
            })),
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
 * Enqueues settlements, with at most `jobIdsMax` submissions per job. Rejects with
 * `QueueUnavailable` if Redis does not confirm a job.
 */
export async function enqueueSettlements(
  producer: Producer,
  submissionIds: readonly string[],
): Promise<void> {
  const gather = settlementGathererOf(producer);
  await Promise.all(submissionIds.map((id) => gather('settlement', id)));
}

/**
 * Notifies the deliverers that these tenants have due deliveries. Call it after the commit. After
 * `QueueUnavailable`, deliverers find the deliveries in Postgres.
 */
export async function announceDeliveries(
  producer: Producer,
  tenantIds: readonly string[],
): Promise<void> {
  const all = [...new Set(tenantIds)];
  for (let start = 0; start < all.length; start += jobIdsMax) {
    const batch = all.slice(start, start + jobIdsMax);
    const joined = await producer.joinWaitingWakeUp(batch);
    if (!joined) await producer.enqueue('webhook', { tenantIds: batch });
  }
}
