import { checkWebhookUrl } from '@svc/domain';
import type { Context } from '../context.ts';
import { Refusal } from '../refusal.ts';

/** The job types that this build can dispatch. */
const jobTypesKnown = ['ats.application'];

/**
 * Without `--allow`: all job types of this build. Throws Refusal for an unknown job type, or if
 * `none` is combined with another value.
 */
export function allowedJobTypes(allow: readonly string[] | undefined): string[] {
  if (allow === undefined) return jobTypesKnown;
  if (allow.includes('none')) {
    if (allow.length > 1)
      throw new Refusal('--allow none cannot be combined with another --allow.');
    return [];
  }
  const unknown = allow.filter((jobType) => !jobTypesKnown.includes(jobType));
  if (unknown.length > 0) {
    throw new Refusal(
      `The service has no job type named ${unknown.join(', ')}. Use one of ${jobTypesKnown.join(', ')}.`,
    );
  }
  return [...new Set(allow)];
}

/** Returns the normalised URL. Throws Refusal for a URL to which webhooks must not be sent. */
export function acceptedUrl({ configuration }: Context, url: string): string {
  const allowPrivateNetworks = configuration.WEBHOOK_ALLOW_PRIVATE_NETWORKS === '1';
  const check = checkWebhookUrl(url, { allowPrivateNetworks });
  if (check.kind === 'refused') throw new Refusal(`The webhook URL ${check.reason}.`);
  return check.url;
}
