import { type DeliveryQueued, NoQuery } from '@svc/contracts';
import { assertNever, toWireId } from '@svc/domain';
import { announceDeliveries } from '@svc/queue';
import { queueEndpointTest } from '@svc/store';
import { announce } from '../announce.ts';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json, notFound, problem, rateLimited } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint, type TenantRequest } from '../http/endpoint.ts';
import { endpointAt, endpointsPath } from './record.ts';

const disabled = problem(
  'webhook_url_missing',
  'The URL of this endpoint is disabled. Set the URL again, then repeat the request.',
);

/**
 * `POST /v1/webhook-endpoints/:id/test` (CONTRACT 12): queues a test event for the endpoint. An
 * endpoint gets at most one test event a minute.
 */
export function testEndpointEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'post',
    path: `${endpointsPath}/:id/test`,
    query: NoQuery,
    handle: (request) => test(deps, request),
  });
}

async function test(deps: GatewayDeps, request: TenantRequest): Promise<Answer> {
  const { requestId } = request;
  const at = endpointAt(request);
  if (at === undefined) return notFound;
  const outcome = await queueEndpointTest(deps.store, { ...at, requestId });
  switch (outcome.kind) {
    case 'queued': {
      const deliveryId = toWireId('dlv', outcome.deliveryId);
      const notified = outcome.announced ? [at.tenantId] : [];
      const fields = { requestId, deliveryId };
      await announce(deps, fields, [announceDeliveries(deps.producer, notified)]);
      const body: DeliveryQueued = { deliveryId };
      return json(202, body, { deliveryId });
    }
    case 'not_found':
      return notFound;
    case 'disabled':
      return disabled;
    case 'too_soon':
      return rateLimited(
        outcome.retryInMs,
        'A test event was queued within the last minute, or this tenant has used all webhook attempts of this hour. Try again after the seconds in `Retry-After`.',
      );
    default:
      return assertNever(outcome);
  }
}
