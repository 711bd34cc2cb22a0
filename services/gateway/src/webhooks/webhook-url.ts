import { checkWebhookUrl } from '@svc/domain';
import type { GatewayDeps } from '../deps.ts';
import type { ProblemAnswer } from '../http/answer.ts';
import { validationProblem } from '../http/read-json.ts';

/** Refuses a forbidden `webhookUrl` (CONTRACT 6, destinations). Undefined if it is allowed. */
export function refusedWebhookUrl(
  { allowPrivateNetworks }: Pick<GatewayDeps, 'allowPrivateNetworks'>,
  webhookUrl: string | null | undefined,
): ProblemAnswer | undefined {
  if (webhookUrl === undefined || webhookUrl === null) return undefined;
  const check = checkWebhookUrl(webhookUrl, { allowPrivateNetworks });
  if (check.kind === 'accepted') return undefined;
  return validationProblem([{ path: '/webhookUrl', message: check.reason, keyword: 'format' }]);
}
