import { setTimeout as pause } from 'node:timers/promises';

import { queues, type JobOf, type QueueKey } from '@svc/contracts';
import { UnrecoverableError, Worker, type Job } from 'bullmq';

import { assertJob, InvalidJob } from './job-schemas.ts';
import { closeRedis, connectRedis, keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

export interface Consumer {
  /**
   * Takes no more jobs and waits for those in hand; after `drainTimeoutMs` their signal is
   * aborted, and soon after that the connections are closed whatever is left.
   */
  close(): Promise<void>;
  /** False when the queue has not been asked for work for `pollSilenceMsMax`: not ready. */
  isPolling(): boolean;
}

export interface ConsumerOptions<K extends QueueKey> {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly queue: K;
  /**
   * Handles one job; idempotent, because a job may come twice. An error parks the job or has it
   * tried again, as the catalogue says. The signal is aborted when the process must end.
   */
  handle(job: JobOf[K], context: { readonly signal: AbortSignal }): Promise<void>;
  readonly logger: QueueLogger;
  /** How many jobs are in hand at once; the catalogue's figure by default. */
  readonly concurrency?: number;
  readonly drainTimeoutMs?: number;
}

/** An idle worker asks at least every 10 s (BullMQ's longest blocking read). */
export const pollSilenceMsMax = 20_000;
const drainTimeoutMsDefault = 8_000;
const abortGraceMs = 1_000;
const retryPauseMs = 1_000;

/** BullMQ tells of jobs, but not that it asked and there were none: this is where it would. */
class ObservedWorker extends Worker {
  polledAtMs = Number.NEGATIVE_INFINITY;

  protected override async nextJobFromJobData(
    ...args: Parameters<Worker['nextJobFromJobData']>
  ): Promise<Job> {
    this.polledAtMs = performance.now();
    return await super.nextJobFromJobData(...args);
  }
}

/** Runs the worker's loop until it is closed; should the loop itself end in an error, again. */
async function keepRunning(
  worker: Worker,
  logger: QueueLogger,
  closing: AbortSignal,
): Promise<void> {
  while (!closing.aborted) {
    try {
      await worker.run();
    } catch (error) {
      logger.error({ err: error, queue: worker.name }, 'queue worker stopped, starting it again');
    }
    if (!closing.aborted) await pause(retryPauseMs, undefined, { signal: closing }).catch(() => {});
  }
}

/** Resolves false when `work` is not done in time; its own failure counts as done. */
async function doneWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  const done = await Promise.race([work.then(() => true).catch(() => true), timeout]);
  clearTimeout(timer);
  return done;
}

/**
 * Consumes one queue of the catalogue with connections of its own. It starts at once, goes on
 * after Redis was away, restarted or emptied, and checks every payload against its schema.
 */
export function createConsumer<K extends QueueKey>(options: ConsumerOptions<K>): Consumer {
  const { queue, logger } = options;
  const definition = queues[queue];
  const concurrency = options.concurrency ?? definition.concurrency;
  const redis = connectRedis(options.redisUrl, 'worker', logger);
  const closing = new AbortController();
  const ending = new AbortController();
  let inHand = 0;
  const idlers: (() => void)[] = [];

  async function idle(): Promise<void> {
    if (inHand > 0) await new Promise<void>((resolve) => idlers.push(resolve));
  }

  async function process(job: Job): Promise<void> {
    inHand += 1;
    try {
      const payload: unknown = job.data;
      assertJob(queue, payload);
      await options.handle(payload, { signal: ending.signal });
    } catch (error) {
      logger.error(
        { err: error, queue, jobId: job.id, attempt: job.attemptsMade + 1 },
        'job failed',
      );
      throw error instanceof InvalidJob ? new UnrecoverableError(error.message) : error;
    } finally {
      inHand -= 1;
      if (inHand === 0) idlers.splice(0).forEach((resolve) => resolve());
    }
  }

  const worker = new ObservedWorker(definition.name, process, {
    connection: redis,
    prefix: keyPrefix(options.prefix),
    autorun: false,
    concurrency,
    lockDuration: definition.lockDurationMs,
    maxStalledCount: definition.stalledCountMax,
    // After a lost connection; BullMQ's own 15 s would keep tenants waiting after a restart.
    runRetryDelay: retryPauseMs,
  });
  worker.on('error', (error) => logger.warn({ err: error, queue }, 'queue worker error'));
  worker.on('stalled', (jobId) => logger.warn({ queue, jobId }, 'job stalled'));
  void keepRunning(worker, logger, closing.signal);

  return {
    isPolling() {
      if (!redisIsReady(redis)) return false;
      return inHand >= concurrency || performance.now() - worker.polledAtMs < pollSilenceMsMax;
    },
    async close() {
      closing.abort();
      const closed = worker.close();
      // Without Redis the worker cannot close; what it has in hand can end all the same.
      const drained = redisIsReady(redis) ? closed : Promise.race([closed, idle()]);
      if (!(await doneWithin(drained, options.drainTimeoutMs ?? drainTimeoutMsDefault))) {
        ending.abort();
      }
      if (!(await doneWithin(closed, abortGraceMs)) && inHand > 0) {
        logger.warn({ queue, inHand }, 'closed with jobs in hand, which will be found again');
      }
      await closeRedis(redis);
    },
  };
}
