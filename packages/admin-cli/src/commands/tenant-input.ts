import { checkWebhookUrl } from '@svc/domain';
import type { Context } from '../context.ts';
import { Refusal } from '../refusal.ts';

/** The job types that this build can dispatch. */
const jobTypesKnown = ['ats.application'];

/** All job types where none is said; none for `--allow none`. Throws Refusal for others. */
export function allowedJobTypes(allow: readonly string[] | undefined): string[] {
  if (allow === undefined) return jobTypesKnown;
  if (allow.includes('none')) {
    if (allow.length > 1) throw new Refusal('--allow none goes with no other --allow.');
    return [];
  }
  const unknown = allow.filter((jobType) => !jobTypesKnown.includes(jobType));
  if (unknown.length > 0) {
    throw new Refusal(
      `Unknown job type ${unknown.join(', ')}. Known: ${jobTypesKnown.join(', ')}.`,
    );
  }
  return [...new Set(allow)];
}

/** The URL in its normal form. Throws Refusal for one that nothing may be sent to. */
export function acceptedUrl({ configuration }: Context, url: string): string {
  const allowPrivateNetworks = configuration.WEBHOOK_ALLOW_PRIVATE_NETWORKS === '1';
  const check = checkWebhookUrl(url, { allowPrivateNetworks });
  if (check.kind === 'refused') throw new Refusal(`The webhook URL ${check.reason}.`);
  return check.url;
}
