import { queues, type QueueKey } from '@svc/contracts';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { keyPrefix } from './redis.ts';

export interface QueueStatus {
  readonly queue: string;
  /** Jobs that wait for a worker, with or without a priority. */
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  /** The number of jobs that are parked as failed, for an operator to inspect. */
  readonly failed: number;
  /**
   * The time since the oldest waiting job was added. It may be too low, because only the first
   * waiting job of each priority is looked at. Null if no job waits.
   */
  readonly oldestWaitingMs: number | null;
  readonly paused: boolean;
}

export const queueKeys: readonly QueueKey[] = ['dispatch', 'settlement', 'webhook'];

/** Dispatch jobs have a priority from 1 to this number, one for each tier. */
const prioritiesMax = 3;
/**
 * BullMQ sorts jobs with a priority by a score. The score is the priority times this unit, plus a
 * counter that orders the jobs of one priority.
 */
const priorityUnit = 0x1_0000_0000;

/** Reads the status of each queue in `queueKeys`. Throws if Redis is unreachable. */
export async function readQueueStatus(redis: Redis, prefix: string): Promise<QueueStatus[]> {
  return Promise.all(queueKeys.map((key) => withQueue(redis, prefix, key, statusOf)));
}

async function statusOf(queue: Queue, redis: Redis, prefix: string): Promise<QueueStatus> {
  const [counts, paused, oldestWaitingMs] = await Promise.all([
    queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed'),
    queue.isPaused(),
    oldestOf(redis, `${keyPrefix(prefix)}:${queue.name}`),
  ]);
  const count = (state: string) => counts[state] ?? 0;
  return {
    queue: queue.name,
    waiting: count('waiting') + count('prioritized'),
    active: count('active'),
    delayed: count('delayed'),
    failed: count('failed'),
    oldestWaitingMs,
    paused,
  };
}

async function oldestOf(redis: Redis, key: string): Promise<number | null> {
  const [seconds] = await redis.time();
  const firsts = await Promise.all([
    redis.lrange(`${key}:wait`, -1, -1),
    ...Array.from({ length: prioritiesMax }, (_, index) =>
      redis.zrangebyscore(
        `${key}:prioritized`,
        (index + 1) * priorityUnit,
        `(${(index + 2) * priorityUnit}`,
        'LIMIT',
        0,
        1,
      ),
    ),
  ]);
  const times = await Promise.all(
    firsts.flat().map((jobId) => redis.hget(`${key}:${jobId}`, 'timestamp')),
  );
  const known = times.filter((time) => time !== null).map(Number);
  if (known.length === 0) return null;
  return Math.max(0, Number(seconds) * 1_000 - Math.min(...known));
}

/** Pauses a queue. Until `resumeQueue`, no job of the queue starts. Jobs in progress go on. */
export async function pauseQueue(redis: Redis, prefix: string, key: QueueKey): Promise<void> {
  await withQueue(redis, prefix, key, (queue) => queue.pause());
}

export async function resumeQueue(redis: Redis, prefix: string, key: QueueKey): Promise<void> {
  await withQueue(redis, prefix, key, (queue) => queue.resume());
}

const retriedAtOnceMax = 500;

/**
 * Retries the jobs that are parked as failed. Calls `onPage` every 200 ms with the number that are
 * still parked. Returns by how much this number has fallen.
 */
export async function retryFailedJobs(
  redis: Redis,
  prefix: string,
  key: QueueKey,
  onPage: (left: number) => void,
): Promise<number> {
  return withQueue(redis, prefix, key, async (queue) => {
    const parkedBefore = await queue.getFailedCount();
    // `retryJobs` retries only jobs that failed before `timestamp`. A job that fails again during
    // the call fails later than that, so it is retried only once.
    const timestamp = Date.now();
    const script = queue.retryJobs({ state: 'failed', count: retriedAtOnceMax, timestamp });
    const timer = setInterval(() => {
      queue.getFailedCount().then(onPage, () => {});
    }, 200);
    try {
      await script;
    } finally {
      clearInterval(timer);
    }
    return parkedBefore - (await queue.getFailedCount());
  });
}

async function withQueue<T>(
  redis: Redis,
  prefix: string,
  key: QueueKey,
  work: (queue: Queue, redis: Redis, prefix: string) => Promise<T>,
): Promise<T> {
  const queue = new Queue(queues[key].name, {
    connection: redis,
    prefix: keyPrefix(prefix),
    skipWaitingForReady: true,
    skipVersionCheck: true,
    skipMetasUpdate: true,
  });
  try {
    return await work(queue, redis, prefix);
  } finally {
    await queue.close();
  }
}
