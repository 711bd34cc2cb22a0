import type { JobResult } from '@svc/contracts';
import { type ExecutionContext, type Job, JobFailed } from '../../../executor.ts';
import {
  CannotStartBrowser,
  newProfileDirectory,
  openBrowser,
  type OpenBrowser,
  whileConnected,
} from '../chromium/index.ts';
import type { HostMap } from '../egress/destination.ts';
import { type EgressProxy, startEgressProxy } from '../egress/proxy.ts';
import { openSubmitFence } from '../fence/index.ts';
import { type ProfileReading, readProfile } from '../planner/index.ts';
import type { JobLog } from './application.ts';
import { applyOnPage } from './apply-on-page.ts';
import { loadFiles } from './files.ts';
import { createJobMeter } from './metering.ts';
import { screenshotsOf } from './screenshots.ts';

export interface JobOptions {
  readonly binary: string;
  readonly isSandboxed: boolean;
  readonly stateDir: string;
  /**
   * The addresses that the node owner sets with `--map-host`, by `name:port`. Only for a sandbox
   * service.
   */
  readonly hostMap: HostMap;
  /** The public addresses of this node (`observedAddress`), which no page may reach. */
  readonly observed?: () => readonly string[];
  readonly log: JobLog;
  /**
   * The directory for screenshots of forms. The screenshots show personal data, so the directory
   * may be set only if the service is a sandbox.
   */
  readonly debugDir?: string | undefined;
}

/**
 * After the browser has ended, the work has this time to finish. The work can then still report an
 * application that the site has accepted.
 */
const lastWordsMs = 5_000;
/** The time that is kept at the end of a run, to close the browser and to report. */
const reserveSeconds = 10;

/** The table of CONTRACT 10 decides which `JobFailed` this function throws. */
export async function runJob(
  job: Job,
  context: ExecutionContext,
  options: JobOptions,
): Promise<JobResult> {
  const reading = readProfile(job.payloadText);
  if (reading.kind === 'invalid') throw new JobFailed('invalid_payload', reading.message);
  const limit = new AbortController();
  const limitMs = Math.max(0, job.maxNodeSeconds - reserveSeconds) * 1_000;
  const timer = setTimeout(() => limit.abort(), limitMs);
  const signal = AbortSignal.any([context.signal, limit.signal]);
  try {
    return await runWithProxy(job, { ...context, signal }, options, reading);
  } catch (error) {
    // Logs the error only if it is a `CannotStartBrowser`, because the message of any other error
    // may contain values of the form.
    if (error instanceof CannotStartBrowser) {
      const { submissionId } = job;
      options.log('the browser did not start', { submissionId, reason: error.message });
    }
    if (limit.signal.aborted && !(error instanceof JobFailed)) {
      throw new JobFailed('node_error', 'The application took more time than its tier allows.');
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

type Profile = ProfileReading & { readonly kind: 'profile' };

async function runWithProxy(
  job: Job,
  context: ExecutionContext,
  options: JobOptions,
  reading: Profile,
): Promise<JobResult> {
  const { hostMap, observed } = options;
  const proxy = await startEgressProxy({ hostMap, ...(observed && { observed }) });
  try {
    const files = await loadFiles(reading.profile, proxy, context.signal);
    const open = await openBrowser({
      binary: options.binary,
      isSandboxed: options.isSandboxed,
      proxyUrl: proxy.url,
      profileDirectory: newProfileDirectory(options.stateDir),
      signal: context.signal,
    });
    return await runInBrowser(job, context, options, reading, { proxy, files, open });
  } finally {
    await proxy.close();
  }
}

interface Resources {
  readonly proxy: EgressProxy;
  readonly files: Awaited<ReturnType<typeof loadFiles>>;
  readonly open: OpenBrowser;
}

async function runInBrowser(
  job: Job,
  context: ExecutionContext,
  { log, debugDir }: JobOptions,
  { profile, applicationUrl, atsType }: Profile,
  { proxy, files, open }: Resources,
): Promise<JobResult> {
  const { signal } = context;
  const meter = createJobMeter({
    meter: context.meter,
    bytes: () => proxy.counts(),
    usage: () => open.usage(),
  });
  let end: string | undefined;
  const watch = async (): Promise<void> => {
    end = await open.whenGone;
  };
  void watch();
  const screenshot = screenshotsOf(open.page, job.submissionId, debugDir);
  try {
    const { browser, page } = open;
    const submitting = async (): Promise<void> => await context.submitting();
    const opening = openSubmitFence({ browser, page, proxy, submitting, signal });
    const fence = await whileConnected(browser, opening);
    const applied = applyOnPage({
      page,
      fence,
      proxy,
      profile,
      files,
      applicationUrl,
      hint: atsType,
      meter,
      signal,
      log: (step, details) => log(step, { submissionId: job.submissionId, ...details }),
      screenshot,
    });
    return await whileConnected(browser, applied, lastWordsMs);
  } catch (error) {
    throw error instanceof JobFailed ? error : ended(end, error);
  } finally {
    if (!signal.aborted) await whileConnected(open.browser, screenshot('end')).catch(() => {});
    await open.close();
    await meter.finish();
  }
}

function ended(end: string | undefined, error: unknown): unknown {
  if (end === 'memory') return new JobFailed('node_error', 'The browser ran out of memory.');
  return end === 'crashed' ? new JobFailed('node_error', 'The browser crashed.') : error;
}
