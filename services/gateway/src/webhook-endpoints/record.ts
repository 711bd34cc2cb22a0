import type { WebhookEndpoint } from '@svc/contracts';
import { fromWireId, toWireId } from '@svc/domain';
import type { EndpointRecord } from '@svc/store';
import type { TenantRequest } from '../http/endpoint.ts';

export const endpointsPath = '/v1/webhook-endpoints';

/** An endpoint as the tenant sees it (CONTRACT 12). */
export function endpointShown(record: EndpointRecord): WebhookEndpoint {
  const { id, kind, url, events, description, disabled, createdAt } = record;
  return {
    id: toWireId('whe', id),
    kind,
    url,
    events,
    description,
    disabled: disabled === null ? null : { at: disabled.at.toISOString(), reason: disabled.reason },
    createdAt: createdAt.toISOString(),
  };
}

/** The tenant and the endpoint that a request names. Undefined for a malformed id. */
export function endpointAt({
  id,
  tenant: { tenantId },
}: TenantRequest): { tenantId: string; endpointId: string } | undefined {
  const endpointId = fromWireId('whe', id);
  return endpointId === undefined ? undefined : { tenantId, endpointId };
}
