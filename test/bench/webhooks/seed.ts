import { randomBytes } from 'node:crypto';
import { eventBody, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { newSecret } from '@svc/signing';
import { openTenant } from '@svc/store';
import type { World } from './world.ts';

const bench = { actor: { kind: 'local', name: 'bench' }, requestId: 'bench' } as const;

export async function seedTenant({ store }: World, webhookUrl: string): Promise<string> {
  const id = newId();
  const tenant = {
    id,
    name: 'bench',
    allowedJobTypes: [],
    webhookUrl,
    hmacSecret: newSecret('hsk_test', randomBytes),
    webhookSecret: newSecret('whsec', randomBytes),
  };
  await openTenant(store, tenant, 0n, bench);
  return id;
}

/** As long as the event of a submission's end is. */
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
 * Writes events with a delivery for each, going round the tenants, in as many transactions as
 * statements; due at once, or only when `makeDue` says so. Returns the deliveries' ids.
 */
export async function seedDeliveries(
  { pool, store }: World,
  tenantIds: readonly string[],
  count: number,
  { due = true } = {},
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
      return {
        id,
        delivery_id: newId(),
        tenant_id: tenantIds[(start + index) % tenantIds.length],
        body: Buffer.from(store.sealer.seal(`events.body_sealed:${id}`, body)).toString('base64'),
      };
    });
    await pool.query(
      `WITH input AS (
        SELECT * FROM jsonb_to_recordset($1::jsonb) AS (id uuid, tenant_id uuid, body text, delivery_id uuid)
      ), event AS (
        INSERT INTO events (id, tenant_id, type, request_id, body_sealed, created_at)
        SELECT id, tenant_id, 'submission.completed', 'bench', decode(body, 'base64'), svc_now() FROM input
      )
      INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, created_at, round_started_at)
      SELECT delivery_id, tenant_id, id, 'submission.completed', 'pending',
        svc_now() + $2 * interval '1 hour', svc_now(), svc_now() FROM input`,
      [JSON.stringify(rows), due ? 0 : 1],
    );
    deliveryIds.push(...rows.map((row) => row.delivery_id));
  }
  return deliveryIds;
}

export async function pendingCount({ pool }: World, tenantIds: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM deliveries WHERE status = 'pending' AND tenant_id = ANY($1)`,
    [tenantIds],
  );
  return rows[0]?.count ?? 0;
}
