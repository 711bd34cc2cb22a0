import { checkWebhookUrl } from '@svc/domain';
import type { GatewayDeps } from '../deps.ts';
import type { ProblemAnswer } from '../http/answer.ts';
import { validationProblem } from '../http/read-json.ts';

/**
 * The refusal of a forbidden URL (CONTRACT 6, "Destinations"). Undefined if the URL is allowed or
 * there is none.
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
