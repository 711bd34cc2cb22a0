import { setTimeout as pause } from 'node:timers/promises';
import { queues, type JobOf, type QueueKey } from '@svc/contracts';
import { UnrecoverableError, Worker, type Job } from 'bullmq';
import { assertJob, InvalidJob } from './job-schemas.ts';
import { withTenantsOfName } from './job-tenants.ts';
import { closeRedis, connectRedis, keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

export interface Consumer {
  /**
   * Takes no more jobs and waits for those in progress. Aborts their signal after `drainTimeoutMs`,
   * and closes the connections at most one second later.
   */
  close(): Promise<void>;
  /**
   * False (not ready) if Redis is unreachable. Also false if the consumer could take a job, but has
   * not polled the queue for `pollSilenceMsMax`.
   */
  isPolling(): boolean;
  readonly concurrency: number;
  inProgress(): number;
}

export interface ConsumerOptions<K extends QueueKey> {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly queue: K;
  /**
   * Must be idempotent, because a job may be handled more than once. After an error the job is
   * retried or given up, as the catalogue of queues defines.
   */
  handle(job: JobOf[K], context: { readonly signal: AbortSignal }): Promise<void>;
  readonly logger: QueueLogger;
  readonly observe?: (result: 'done' | 'failed', seconds: number) => void;
  /** The most jobs in progress at once. Default: the concurrency in the catalogue of queues. */
  readonly concurrency?: number;
  /** The time after which `close` aborts the jobs in progress. Default: 8 s. */
  readonly drainTimeoutMs?: number;
}

/**
 * A consumer that has not polled for this long is not ready, unless `concurrency` jobs are in
 * progress. The limit must exceed BullMQ's longest blocking read, which takes 10 s.
 */
export const pollSilenceMsMax = 20_000;
const drainTimeoutMsDefault = 8_000;
const abortGraceMs = 1_000;
const retryPauseMs = 1_000;

/** Records the time of each poll. BullMQ has no event for each poll that finds no job. */
class ObservedWorker extends Worker {
  polledAtMs = Number.NEGATIVE_INFINITY;

  protected override async nextJobFromJobData(
    ...args: Parameters<Worker['nextJobFromJobData']>
  ): Promise<Job> {
    this.polledAtMs = performance.now();
    return await super.nextJobFromJobData(...args);
  }
}

async function keepRunning(
  worker: Worker,
  logger: QueueLogger,
  closing: AbortSignal,
): Promise<void> {
  while (!closing.aborted) {
    try {
      await worker.run();
    } catch (error) {
      logger.error({ err: error, queue: worker.name }, 'the queue worker failed and is restarted');
    }
    if (!closing.aborted) await pause(retryPauseMs, undefined, { signal: closing }).catch(() => {});
  }
}

/** True if `work` ends within `timeoutMs`. A failure of `work` counts as its end. */
async function doneWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  const done = await Promise.race([work.then(() => true).catch(() => true), timeout]);
  clearTimeout(timer);
  return done;
}

function logEvents(worker: ObservedWorker, logger: QueueLogger, queue: QueueKey): void {
  worker.on('error', (error) =>
    logger.warn({ err: error, queue }, 'the queue worker had an error'),
  );
  worker.on('stalled', (jobId) => logger.warn({ queue, jobId }, 'job stalled'));
}

/**
 * Starts to consume one queue over its own connections, and continues after an outage, restart or
 * flush of Redis. Checks every payload against its schema.
 */
export function createConsumer<K extends QueueKey>(options: ConsumerOptions<K>): Consumer {
  const { queue, logger, concurrency = queues[queue].concurrency } = options;
  const definition = queues[queue];
  const prefix = keyPrefix(options.prefix);
  const redis = connectRedis(options.redisUrl, 'worker', logger, { clusterKey: prefix });
  const closing = new AbortController();
  const ending = new AbortController();
  let inProgress = 0;
  const idlers: (() => void)[] = [];

  async function idle(): Promise<void> {
    if (inProgress > 0) await new Promise<void>((resolve) => idlers.push(resolve));
  }

  async function process(job: Job): Promise<void> {
    inProgress += 1;
    const startedMs = performance.now();
    let result: 'done' | 'failed' = 'done';
    try {
      const payload = withTenantsOfName(job.name, job.data);
      assertJob(queue, payload);
      await options.handle(payload, { signal: ending.signal });
    } catch (error) {
      result = 'failed';
      logger.error(
        { err: error, queue, jobId: job.id, attempt: job.attemptsMade + 1 },
        'job failed',
      );
      throw error instanceof InvalidJob ? new UnrecoverableError(error.message) : error;
    } finally {
      options.observe?.(result, (performance.now() - startedMs) / 1000);
      inProgress -= 1;
      if (inProgress === 0) idlers.splice(0).forEach((resolve) => resolve());
    }
  }

  const worker = new ObservedWorker(definition.name, process, {
    connection: redis,
    prefix,
    autorun: false,
    concurrency,
    lockDuration: definition.lockDurationMs,
    maxStalledCount: definition.stalledCountMax,
    // The pause after a lost connection. With the default of BullMQ, tenants would wait for 15 s
    // after a restart of Redis.
    runRetryDelay: retryPauseMs,
  });
  logEvents(worker, logger, queue);
  void keepRunning(worker, logger, closing.signal);

  return {
    concurrency,
    inProgress: () => inProgress,
    isPolling() {
      if (!redisIsReady(redis)) return false;
      return inProgress >= concurrency || performance.now() - worker.polledAtMs < pollSilenceMsMax;
    },
    async close() {
      closing.abort();
      const closed = worker.close();
      // Without Redis the worker cannot close, but its jobs can still end.
      const drained = redisIsReady(redis) ? closed : Promise.race([closed, idle()]);
      if (!(await doneWithin(drained, options.drainTimeoutMs ?? drainTimeoutMsDefault))) {
        ending.abort();
      }
      if (!(await doneWithin(closed, abortGraceMs)) && inProgress > 0) {
        logger.warn(
          { queue, inProgress },
          'the consumer closed before its jobs ended; a reconciler will find their work',
        );
      }
      await closeRedis(redis);
    },
  };
}
