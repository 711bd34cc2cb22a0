import { NoQuery, type CancelAnswer } from '@svc/contracts';
import { fromWireId } from '@svc/domain';
import { announceDeliveries, publishCancelled } from '@svc/queue';
import { failpoint } from '@svc/runtime';
import { cancelSubmission } from '@svc/store';
import { announce } from '../announce.ts';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json, notFound } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';
import { endedAnswer, refundFigures } from './creation-answer.ts';

/** `POST /v1/submissions/:id/cancel` (CONTRACT 5). The content of the body is ignored. */
export function cancelSubmissionEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'post',
    path: '/v1/submissions/:id/cancel',
    scope: 'spend',
    query: NoQuery,
    handle: ({ tenant, id, requestId }) => cancel(deps, tenant.tenantId, id, requestId),
  });
}

async function cancel(
  deps: GatewayDeps,
  tenantId: string,
  id: string,
  requestId: string,
): Promise<Answer> {
  const submissionId = fromWireId('sub', id);
  if (submissionId === undefined) return notFound;
  const outcome = await cancelSubmission(deps.store, { submissionId, tenantId, by: 'tenant' });
  if (outcome.kind === 'not_found') return notFound;
  const notifiedTenantIds = outcome.deliveryIds.length === 0 ? [] : [tenantId];
  if (outcome.kind === 'terminal') {
    await announce(deps, { requestId, submissionId: id }, [
      announceDeliveries(deps.producer, notifiedTenantIds),
    ]);
    return endedAnswer({ ...outcome, id: submissionId });
  }
  await failpoint('cancelled.committed');
  await announce(deps, { requestId, submissionId: id }, [
    publishCancelled(deps.redis, deps.redisPrefix, submissionId),
    announceDeliveries(deps.producer, notifiedTenantIds),
  ]);
  const body: CancelAnswer = {
    submissionId: id,
    status: 'cancelled',
    refund: refundFigures(outcome),
  };
  return json(200, body, { submissionId: id });
}
