import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { JobFailed } from '../../../executor.ts';
import type { EgressProxy } from '../egress/proxy.ts';
import type { SubmitFence } from '../fence/submit-fence.ts';
import { type FileBytes, readChallenge } from '../page/index.ts';
import type { ApplicantProfile, ProfileFileName } from '../planner/index.ts';
import type { JobMeter } from './metering.ts';
import type { Screenshot } from './screenshots.ts';

/**
 * Logs a step of a job. `details` has, for example, a field key, a count, a code or the reason why
 * the browser did not start. It must not have the value of a form field.
 */
export type JobLog = (step: string, details: Readonly<Record<string, string | number>>) => void;

export interface Application {
  readonly page: Page;
  readonly fence: SubmitFence;
  readonly proxy: Pick<EgressProxy, 'refusals'>;
  readonly profile: ApplicantProfile;
  readonly files: ReadonlyMap<ProfileFileName, FileBytes>;
  readonly applicationUrl: string;
  readonly hint: string;
  readonly meter: JobMeter;
  readonly signal: AbortSignal;
  readonly log: JobLog;
  readonly screenshot: Screenshot;
}

/** The longest wait for a captcha to solve itself (CONTRACT 10). */
const challengeMsMax = 20_000;

/**
 * Throws `JobFailed` if the page shows a captcha. If the captcha is only a checkbox, it may solve
 * itself, so this waits up to `challengeMsMax` first.
 */
export async function refuseChallenge({ page, signal }: Application): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const challenge = await readChallenge(page);
    if (challenge === 'none') return;
    if (challenge === 'challenge' || performance.now() - startedMs > challengeMsMax) {
      throw new JobFailed('captcha', 'The page shows a captcha that waits for a person.');
    }
    await sleep(200, undefined, { signal });
  }
}
