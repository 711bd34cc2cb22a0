import { checkWebhookUrl } from '@svc/domain';
import type { GatewayDeps } from '../deps.ts';
import type { ProblemAnswer } from '../http/answer.ts';
import { validationProblem } from '../http/read-json.ts';

/**
 * Returns the error answer for a forbidden URL (CONTRACT 6, "Destinations"). Returns undefined if
 * the URL is allowed or missing.
 */
export function refusedWebhookUrl(
  { allowPrivateNetworks }: Pick<GatewayDeps, 'allowPrivateNetworks'>,
  webhookUrl: string | null | undefined,
  path: '/webhookUrl' | '/url' = '/webhookUrl',
): ProblemAnswer | undefined {
  if (webhookUrl === undefined || webhookUrl === null) return undefined;
  const check = checkWebhookUrl(webhookUrl, { allowPrivateNetworks });
  if (check.kind === 'accepted') return undefined;
  return validationProblem([{ path, message: check.reason, keyword: 'format' }]);
}
