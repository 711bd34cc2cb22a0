import { type Delivery, DeliveriesQuery, type DeliveryPage, NoQuery } from '@svc/contracts';
import { fromWireId, toWireId } from '@svc/domain';
import { type DeliveryRecord, findDelivery, listDeliveries } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json, notFound } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';
import { pageOf, readPage } from '../http/page.ts';

/** `GET /v1/webhooks/deliveries` (CONTRACT 5): newest first. */
export function listDeliveriesEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: '/v1/webhooks/deliveries',
    query: DeliveriesQuery,
    handle: ({ tenant }, query) => list(deps, tenant.tenantId, query),
  });
}

async function list(deps: GatewayDeps, tenantId: string, query: DeliveriesQuery): Promise<Answer> {
  const page = readPage('deliveries', query);
  if (page.kind === 'problem') return page;
  const records = await listDeliveries(deps.store, tenantId, {
    status: query.status ?? null,
    afterId: page.after?.id ?? null,
    limit: page.limit + 1,
  });
  const body: DeliveryPage = pageOf('deliveries', records, page.limit, {
    position: ({ id }) => ({ id, atMs: 0 }),
    show: delivery,
  });
  return json(200, body);
}

/** `GET /v1/webhooks/deliveries/:id`. The id of another tenant's delivery counts as unknown. */
export function getDeliveryEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: '/v1/webhooks/deliveries/:id',
    query: NoQuery,
    async handle({ tenant, id }) {
      const deliveryId = fromWireId('dlv', id);
      if (deliveryId === undefined) return notFound;
      const record = await findDelivery(deps.store, tenant.tenantId, deliveryId);
      return record === null ? notFound : json(200, delivery(record), { deliveryId: id });
    },
  });
}

function delivery(record: DeliveryRecord): Delivery {
  return {
    id: toWireId('dlv', record.id),
    eventId: toWireId('evt', record.eventId),
    endpointId: record.endpointId === null ? null : toWireId('whe', record.endpointId),
    type: record.type,
    status: record.status,
    attempts: record.attempts.map((attempt) => ({ ...attempt, at: attempt.at.toISOString() })),
    nextAttemptAt: record.nextAttemptAt?.toISOString() ?? null,
    createdAt: record.createdAt.toISOString(),
  };
}
