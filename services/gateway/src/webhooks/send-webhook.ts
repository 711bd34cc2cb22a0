import { type DeliveryQueued, NoQuery } from '@svc/contracts';
import { assertNever, errorCatalogue, fromWireId, toWireId } from '@svc/domain';
import { announceDeliveries } from '@svc/queue';
import { queueWebhookTest, redeliver } from '@svc/store';
import { announce } from '../announce.ts';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json, notFound, problem, rateLimited } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint, type TenantRequest } from '../http/endpoint.ts';

/**
 * The routes that send a webhook on request (CONTRACT 5). They ignore the body of the request.
 */

/**
 * `POST /v1/webhooks/test`: queues a test event for the URL in the tenant's settings, at most one a
 * minute.
 */
export function testWebhookEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'post',
    path: '/v1/webhooks/test',
    query: NoQuery,
    handle: (request) => test(deps, request),
  });
}

/**
 * `POST /v1/webhooks/deliveries/:id/redeliver`: makes this delivery due immediately. If its
 * endpoint is of the kind `poll`, lets the tenant poll the delivery again instead.
 */
export function redeliverEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'post',
    path: '/v1/webhooks/deliveries/:id/redeliver',
    query: NoQuery,
    handle: (request) => again(deps, request),
  });
}

const urlMissing = problem('webhook_url_missing', errorCatalogue.webhook_url_missing.description);
const inProgress = problem('delivery_in_progress', errorCatalogue.delivery_in_progress.description);

async function test(deps: GatewayDeps, request: TenantRequest): Promise<Answer> {
  const { requestId } = request;
  const { tenantId } = request.tenant;
  const outcome = await queueWebhookTest(deps.store, { tenantId, requestId });
  switch (outcome.kind) {
    case 'queued':
      return queued(deps, request, outcome.deliveryId);
    case 'url_missing':
      return urlMissing;
    case 'too_soon':
      return rateLimited(
        outcome.retryInMs,
        'A test event was queued within the last minute, or this tenant has used all webhook attempts of this hour. Try again after the seconds in `Retry-After`.',
      );
    default:
      return assertNever(outcome);
  }
}

async function again(deps: GatewayDeps, request: TenantRequest): Promise<Answer> {
  const deliveryId = fromWireId('dlv', request.id);
  if (deliveryId === undefined) return notFound;
  const { tenantId } = request.tenant;
  const outcome = await redeliver(deps.store, { tenantId, deliveryId });
  switch (outcome.kind) {
    case 'queued':
      return queued(deps, request, deliveryId);
    case 'not_found':
      return notFound;
    case 'url_missing':
      return urlMissing;
    case 'in_progress':
      return inProgress;
    case 'over_cap':
      return rateLimited(
        outcome.retryInMs,
        'This tenant has used all webhook attempts of this hour. Try again after the seconds in `Retry-After`.',
      );
    default:
      return assertNever(outcome);
  }
}

async function queued(
  deps: GatewayDeps,
  { requestId, tenant: { tenantId } }: TenantRequest,
  id: string,
): Promise<Answer> {
  const deliveryId = toWireId('dlv', id);
  await announce(deps, { requestId, deliveryId }, [announceDeliveries(deps.producer, [tenantId])]);
  const body: DeliveryQueued = { deliveryId };
  return json(202, body, { deliveryId });
}
