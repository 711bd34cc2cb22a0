import { createOutboundHttp, systemClock } from '@svc/runtime';
import { openWorkerFixture, silent } from '@svc/startup/fixture';
import { cancelSubmission, responsePlace } from '@svc/store';
import { tenantWebhookSecret } from '@svc/store/fixture';
import { createWebhookReceiver } from '@svc/testkit';
import { noTracing } from '@svc/tracing';
import type { DelivererDeps } from './deliverer.ts';

interface DeliveryRow {
  readonly status: string;
  readonly attempt_count: number;
  readonly due_in_ms: number | null;
}

interface AttemptRow {
  readonly number: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

interface SealedAttemptRow extends Omit<AttemptRow, 'response'> {
  readonly round: number;
  readonly tenant_id: string;
  readonly response_sealed: Uint8Array | null;
}

const grantedCredits = 10_000;

export type WebhooksFixture = Awaited<ReturnType<typeof createWebhooksFixture>>;

export async function createWebhooksFixture() {
  const fixture = await openWorkerFixture();
  const { database, store } = fixture;
  const receiver = await createWebhookReceiver();
  const http = createOutboundHttp({
    allowPrivateNetworks: true,
    monotonicMs: () => systemClock.monotonicMs(),
  });
  const deps: DelivererDeps = {
    store,
    http,
    endpointRequestsMax: 8,
    backoffSeconds: [5, 60, 300, 900, 2400, 7200, 18_000],
    clock: systemClock,
    tracing: noTracing,
    random: () => 0.5,
    logger: silent,
    countAttempt: () => {},
    timeAttempt: () => {},
  };
  return {
    ...fixture,
    receiver,
    secret: tenantWebhookSecret,
    deps,
    tenant: (webhookUrl = receiver.url) => fixture.tenant(grantedCredits, webhookUrl),
    async delivery(tenantId: string): Promise<string> {
      const { id: submissionId } = await fixture.hold(tenantId);
      const cancelled = await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
      const [deliveryId] = cancelled.kind === 'cancelled' ? cancelled.deliveryIds : [];
      if (deliveryId === undefined) throw new Error('no delivery');
      return deliveryId;
    },
    async read(deliveryId: string): Promise<DeliveryRow> {
      const [row] = await database.query<DeliveryRow>(
        `SELECT status, attempt_count,
          (extract(epoch FROM next_attempt_at - svc_now()) * 1000)::float8 AS due_in_ms
        FROM deliveries WHERE id = $1`,
        [deliveryId],
      );
      if (row === undefined) throw new Error('no such delivery');
      return row;
    },
    async attempts(deliveryId: string): Promise<AttemptRow[]> {
      const rows = await database.query<SealedAttemptRow>(
        `SELECT number, round, status_code, error, response_sealed,
          (SELECT tenant_id FROM deliveries d WHERE d.id = delivery_id)
         FROM delivery_attempts WHERE delivery_id = $1 ORDER BY number`,
        [deliveryId],
      );
      return rows.map(({ round, tenant_id: tenantId, response_sealed: sealed, ...row }) => {
        const place = responsePlace({ tenantId, deliveryId, round, number: row.number });
        const response = sealed === null ? null : store.sealer.unseal(place, sealed);
        return { ...row, response: response === null ? null : Buffer.from(response).toString() };
      });
    },
    async close(): Promise<void> {
      http.close();
      await receiver.close();
      await fixture.close();
    },
  };
}
