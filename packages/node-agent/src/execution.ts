import type { FrameFromNodeOf, JobResult, ReportedUsage } from '@svc/contracts';
import { usageIntervalMs } from '@svc/domain';
import type { Executor, MeteredUsage } from './executor.ts';

export type Executed =
  | { readonly kind: 'completed'; readonly result: JobResult; readonly usage: ReportedUsage }
  | { readonly kind: 'failed'; readonly error: unknown; readonly usage: ReportedUsage };

export interface Execution {
  stop(): void;
  readonly ended: Promise<Executed>;
}

/**
 * Runs an executor and reports its metered usage. Sends no report if the executor has metered
 * nothing since the last one, so that the lease of an executor that hangs expires.
 */
export function execute(
  executor: Executor,
  job: { readonly submissionId: string; readonly payload: unknown },
  report: (frame: FrameFromNodeOf<'usage'>) => void,
): Execution {
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
    report({ type: 'usage', submissionId: job.submissionId, usage: usageNow() });
  }, executor.usageIntervalMs ?? usageIntervalMs);
  const meter = {
    record(usage: MeteredUsage): void {
      metered = { ...metered, ...usage };
      isNew = true;
    },
  };
  const run = async (): Promise<Executed> => {
    try {
      const result = await executor.run(job.payload, { signal: controller.signal, meter });
      return { kind: 'completed', result, usage: usageNow() };
    } catch (error) {
      return { kind: 'failed', error, usage: usageNow() };
    } finally {
      clearInterval(timer);
    }
  };
  return { stop: () => controller.abort(), ended: run() };
}
