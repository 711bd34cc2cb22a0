import type { Logger } from 'pino';
import type { Lifecycle } from './lifecycle.ts';

interface PeriodicTask {
  readonly name: string;
  readonly intervalMs: number;
  readonly run: () => Promise<void>;
  readonly logger: Logger;
}

export interface Repeating {
  /** Starts no further call of `run`, and waits for the current one. */
  close(): Promise<void>;
}

/**
 * Calls `run` repeatedly. Each call begins `intervalMs` after the previous call has ended, so calls
 * never overlap. If a call fails, the error is logged and the calls continue.
 */
export function runPeriodically({ name, intervalMs, run, logger }: PeriodicTask): Repeating {
  let closed = false;
  let current: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;

  async function runOnce(): Promise<void> {
    try {
      await run();
    } catch (error) {
      logger.error({ err: error, name }, 'a periodic task failed');
    }
    schedule();
  }

  function schedule(): void {
    if (closed) return;
    timer = setTimeout(() => {
      current = runOnce();
    }, intervalMs);
  }

  schedule();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await current;
    },
  };
}

export function runUntilClosed(lifecycle: Lifecycle, task: PeriodicTask): void {
  lifecycle.own(task.name, runPeriodically(task));
}
