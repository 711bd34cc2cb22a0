import { queues, type QueueKey } from '@svc/contracts';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { keyPrefix } from './redis.ts';

export interface QueueStatus {
  /** The queue's name with its version. */
  readonly queue: string;
  /** To be taken, with or without a priority. */
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  /** Parked after the last attempt, for an operator to look at. */
  readonly failed: number;
}

/** How full each queue of the catalogue is. Throws where Redis cannot be reached. */
export async function readQueueStatus(redis: Redis, prefix: string): Promise<QueueStatus[]> {
  const keys: QueueKey[] = ['dispatch', 'settlement', 'webhook'];
  return Promise.all(
    keys.map(async (key) => {
      const { name } = queues[key];
      const queue = new Queue(name, {
        connection: redis,
        prefix: keyPrefix(prefix),
        skipWaitingForReady: true,
        skipVersionCheck: true,
        skipMetasUpdate: true,
      });
      try {
        const counts = await queue.getJobCounts(
          'waiting',
          'prioritized',
          'active',
          'delayed',
          'failed',
        );
        const count = (state: string) => counts[state] ?? 0;
        return {
          queue: name,
          waiting: count('waiting') + count('prioritized'),
          active: count('active'),
          delayed: count('delayed'),
          failed: count('failed'),
        };
      } finally {
        await queue.close();
      }
    }),
  );
}
