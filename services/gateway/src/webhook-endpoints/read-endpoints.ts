import { NoQuery, type WebhookEndpointList } from '@svc/contracts';
import { findEndpoint, listEndpoints } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { json, notFound } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';
import { endpointAt, endpointShown, endpointsPath } from './record.ts';

/** `GET /v1/webhook-endpoints`: the endpoints of the tenant except deleted ones, oldest first. */
export function listEndpointsEndpoint({ store }: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: endpointsPath,
    query: NoQuery,
    async handle({ tenant: { tenantId } }) {
      const records = await listEndpoints(store, tenantId);
      const body: WebhookEndpointList = { data: records.map(endpointShown) };
      return json(200, body);
    },
  });
}

/**
 * `GET /v1/webhook-endpoints/:id`. The answer is `404` if the id is malformed or unknown, or if the
 * endpoint is deleted or belongs to another tenant.
 */
export function getEndpointEndpoint({ store }: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: `${endpointsPath}/:id`,
    query: NoQuery,
    async handle(request) {
      const at = endpointAt(request);
      const record = at === undefined ? null : await findEndpoint(store, at);
      return record === null ? notFound : json(200, endpointShown(record));
    },
  });
}
