import { NoQuery, type WebhookEndpointList } from '@svc/contracts';
import { findEndpoint, listEndpoints } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { json, notFound } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';
import { endpointAt, endpointShown, endpointsPath } from './record.ts';

/** `GET /v1/webhook-endpoints`: all endpoints of the tenant, oldest first. */
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

/** `GET /v1/webhook-endpoints/:id`. A malformed, unknown or foreign id gets the same answer. */
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
