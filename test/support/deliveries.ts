import { eventBody, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { eventPlace, type Sealer } from '@svc/store';

export interface DeliverySeeding {
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly query: (sql: string, values: unknown[]) => Promise<unknown>;
}

/** The data of every event. It is about as long as the data of a real `submission.completed`. */
const data = {
  submissionId: toWireId('sub', newId()),
  jobType: 'ats.application',
  tier: 'standard',
  status: 'submitted',
  actualCredits: 25.5,
  refundedCredits: 174.5,
};

const rowsMax = 5_000;

/**
 * Writes `count` events with one delivery each, for the tenants in turn. Each delivery is due when
 * it is written. Returns the ids of the deliveries.
 */
export async function writeDeliveries(
  { sealer, query }: DeliverySeeding,
  tenantIds: readonly string[],
  count: number,
): Promise<string[]> {
  const deliveryIds: string[] = [];
  for (let start = 0; start < count; start += rowsMax) {
    const rows = Array.from({ length: Math.min(rowsMax, count - start) }, (_, index) => {
      const id = newId();
      const body = eventBody({
        id: toWireId('evt', id),
        type: 'submission.completed',
        at: new Date(),
        data,
      });
      const tenantId = tenantIds[(start + index) % tenantIds.length] ?? '';
      const place = eventPlace({ id, tenantId, type: 'submission.completed' });
      return {
        id,
        delivery_id: newId(),
        tenant_id: tenantId,
        body: Buffer.from(sealer.seal(place, body)).toString('base64'),
      };
    });
    await query(
      `WITH input AS (
        SELECT * FROM jsonb_to_recordset($1::jsonb) AS (id uuid, tenant_id uuid, body text, delivery_id uuid)
      ), event AS (
        INSERT INTO events (id, tenant_id, type, request_id, body_sealed, created_at)
        SELECT id, tenant_id, 'submission.completed', 'bench', decode(body, 'base64'), svc_now() FROM input
      )
      INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, created_at, round_started_at)
      SELECT delivery_id, tenant_id, id, 'submission.completed', 'pending',
        svc_now(), svc_now(), svc_now() FROM input`,
      [JSON.stringify(rows)],
    );
    deliveryIds.push(...rows.map((row) => row.delivery_id));
  }
  return deliveryIds;
}
