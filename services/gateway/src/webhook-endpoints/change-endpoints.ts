import { randomBytes } from 'node:crypto';
import {
  NoQuery,
  type RotatedSecret,
  SecretRotation,
  WebhookEndpointChange,
  type WebhookEndpointCreated,
  WebhookEndpointRequest,
} from '@svc/contracts';
import { errorCatalogue, rotationOverlapHoursDefault } from '@svc/domain';
import { announceDeliveries } from '@svc/queue';
import { newSecret } from '@svc/signing';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  findEndpoint,
  rotateEndpointSecret,
} from '@svc/store';
import { announce } from '../announce.ts';
import type { GatewayDeps } from '../deps.ts';
import { json, noContent, notFound, problem } from '../http/answer.ts';
import {
  authorOf,
  tenantEndpoint,
  type TenantEndpoint,
  type TenantRequest,
} from '../http/endpoint.ts';
import { validationProblem } from '../http/read-json.ts';
import { compileBody } from '../http/read-object.ts';
import { refusedWebhookUrl } from '../webhooks/webhook-url.ts';
import { endpointAt, endpointShown, endpointsPath } from './record.ts';

const hourMs = 3_600_000;
const limitReached = problem('endpoint_limit', errorCatalogue.endpoint_limit.description);
const otherKind = validationProblem([
  {
    path: '/url',
    message:
      'must not change from null to a URL or from a URL to null; create another endpoint instead',
    keyword: 'kind',
  },
]);

/** `POST /v1/webhook-endpoints` (CONTRACT 12). Only this answer contains the new secret. */
export function createEndpointEndpoint(deps: GatewayDeps): TenantEndpoint {
  const checkBody = compileBody(WebhookEndpointRequest, []);
  return tenantEndpoint({
    method: 'post',
    changesSettings: true,
    path: endpointsPath,
    query: NoQuery,
    async handle(request) {
      const body = checkBody(request);
      if (body.kind === 'problem') return body;
      const { url, events = null, description = null } = body.value;
      const refusal = refusedWebhookUrl(deps, url, '/url');
      if (refusal !== undefined) return refusal;
      const secret = newSecret('whsec', randomBytes);
      const { tenantId } = request.tenant;
      const created = await createEndpoint(
        deps.store,
        { tenantId, url, events, description, secret },
        authorOf(request),
      );
      if (created.kind === 'limit') return limitReached;
      await announceChange(deps, request, created.deliveryIds);
      const answer: WebhookEndpointCreated = { ...endpointShown(created.endpoint), secret };
      return json(201, answer);
    },
  });
}

/** `PATCH /v1/webhook-endpoints/:id`: omitted members stay unchanged. */
export function changeEndpointEndpoint(deps: GatewayDeps): TenantEndpoint {
  const checkBody = compileBody(WebhookEndpointChange, []);
  return tenantEndpoint({
    method: 'patch',
    changesSettings: true,
    path: `${endpointsPath}/:id`,
    query: NoQuery,
    async handle(request) {
      const at = endpointAt(request);
      if (at === undefined || (await findEndpoint(deps.store, at)) === null) return notFound;
      const body = checkBody(request);
      if (body.kind === 'problem') return body;
      const refusal = refusedWebhookUrl(deps, body.value.url, '/url');
      if (refusal !== undefined) return refusal;
      const changed = await changeEndpoint(deps.store, at, body.value, authorOf(request));
      if (changed.kind === 'not_found') return notFound;
      if (changed.kind === 'other_kind') return otherKind;
      await announceChange(deps, request, changed.deliveryIds);
      return json(200, endpointShown(changed.endpoint));
    },
  });
}

/** `DELETE /v1/webhook-endpoints/:id`. The pending deliveries of the endpoint are dropped. */
export function deleteEndpointEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'delete',
    changesSettings: true,
    path: `${endpointsPath}/:id`,
    query: NoQuery,
    async handle(request) {
      const at = endpointAt(request);
      if (at === undefined) return notFound;
      const deleted = await deleteEndpoint(deps.store, at, authorOf(request));
      if (deleted.kind === 'not_found') return notFound;
      await announceChange(deps, request, deleted.deliveryIds);
      return noContent;
    },
  });
}

/**
 * `POST /v1/webhook-endpoints/:id/rotate-secret` (CONTRACT 12). For `overlapHours` the service
 * signs with the old secret too. An empty body means the default of `overlapHours`.
 */
export function rotateEndpointSecretEndpoint(deps: GatewayDeps): TenantEndpoint {
  const checkBody = compileBody(SecretRotation, []);
  return tenantEndpoint({
    method: 'post',
    changesSettings: true,
    path: `${endpointsPath}/:id/rotate-secret`,
    query: NoQuery,
    async handle(request) {
      const at = endpointAt(request);
      if (at === undefined || (await findEndpoint(deps.store, at)) === null) return notFound;
      const body = request.body.length === 0 ? undefined : checkBody(request);
      if (body?.kind === 'problem') return body;
      const secret = newSecret('whsec', randomBytes);
      const overlapMs = (body?.value.overlapHours ?? rotationOverlapHoursDefault) * hourMs;
      const rotation = { ...at, secret, overlapMs };
      const rotated = await rotateEndpointSecret(deps.store, rotation, authorOf(request));
      if (rotated.kind === 'not_found') return notFound;
      await announceChange(deps, request, rotated.deliveryIds);
      const answer: RotatedSecret = { secret };
      return json(200, answer);
    },
  });
}

async function announceChange(
  deps: GatewayDeps,
  { requestId, tenant: { tenantId } }: TenantRequest,
  deliveryIds: readonly string[],
): Promise<void> {
  const notifiedTenantIds = deliveryIds.length === 0 ? [] : [tenantId];
  await announce(deps, { requestId }, [announceDeliveries(deps.producer, notifiedTenantIds)]);
}
