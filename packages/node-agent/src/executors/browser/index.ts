import type { Executor } from '../../executor.ts';
import { type JobOptions, runJob } from './job/run-job.ts';

export type BrowserExecutorOptions = JobOptions;

/**
 * Fills in and submits application forms in a real browser (CONTRACT 10). Each job has its own
 * browser, profile directory and proxy.
 */
export function createBrowserExecutor(options: BrowserExecutorOptions): Executor {
  return {
    jobType: 'ats.application',
    name: 'browser',
    version: '1',
    isFenced: true,
    run: async (job, context) => await runJob(job, context, options),
  };
}
