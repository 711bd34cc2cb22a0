import type { FrameFromNodeOf, JobResult, ReportedUsage } from '@svc/contracts';
import { usageIntervalMs } from '@svc/domain';
import type { Executor, Job, MeteredUsage } from './executor.ts';

export type Executed =
  | { readonly kind: 'completed'; readonly result: JobResult; readonly usage: ReportedUsage }
  | { readonly kind: 'failed'; readonly error: unknown; readonly usage: ReportedUsage };

export interface Execution {
  stop(): void;
  readonly ended: Promise<Executed>;
}

export interface ExecutionHooks {
  report(frame: FrameFromNodeOf<'usage'>): void;
  /**
   * Marks the submission as `submitting` in the journal. Resolves when the mark is on disk. Rejects
   * if the submission cannot be marked.
   */
  submitting(): Promise<void>;
}

/**
 * At the end of each interval, reports the usage if the executor has recorded usage in the
 * interval. If the executor hangs, nothing is reported, so the lease expires.
 */
export function execute(executor: Executor, job: Job, hooks: ExecutionHooks): Execution {
  const controller = new AbortController();
  const startedMs = performance.now();
  let metered: MeteredUsage = {};
  let isNew = false;
  const usageNow = (): ReportedUsage => ({
    nodeSeconds: Math.floor(performance.now() - startedMs) / 1000,
    ...metered,
  });
  const timer = setInterval(() => {
    if (!isNew) return;
    isNew = false;
    hooks.report({ type: 'usage', submissionId: job.submissionId, usage: usageNow() });
  }, executor.usageIntervalMs ?? usageIntervalMs);
  const meter = {
    record(usage: MeteredUsage): void {
      metered = { ...metered, ...usage };
      isNew = true;
    },
  };
  const { signal } = controller;
  const context = {
    signal,
    meter,
    async submitting(): Promise<void> {
      signal.throwIfAborted();
      await hooks.submitting();
      signal.throwIfAborted();
    },
  };
  const run = async (): Promise<Executed> => {
    try {
      const result = await executor.run(job, context);
      return { kind: 'completed', result, usage: usageNow() };
    } catch (error) {
      return { kind: 'failed', error, usage: usageNow() };
    } finally {
      clearInterval(timer);
    }
  };
  return { stop: () => controller.abort(), ended: run() };
}
