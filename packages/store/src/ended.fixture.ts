import type { Fixture } from './store.fixture.ts';

/**
 * Inserts `rows` cancelled submissions, each with a ledger entry, and `rows` ended deliveries. With
 * `payload`, each submission still has a payload.
 */
export async function seedEnded(
  { database }: Fixture,
  { tenantId, rows, payload = null }: { tenantId: string; rows: number; payload?: 'kept' | null },
): Promise<void> {
  await database.query(`
    INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier, state,
      payload_sealed, quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version,
      available_after_micros, dispatch_deadline_at, created_at, finished_at, charged_micros, cancelled_by)
    SELECT gen_random_uuid(), '${tenantId}', 'seed-' || n, '\\x00', 'seed', 'ats.application', 'standard',
      'cancelled', ${payload === null ? 'NULL' : `'\\x00'`}, 0, 2, 1000000, 1,
      0, svc_now() - n * interval '1 second', svc_now() - n * interval '1 second', svc_now(), 1, 'tenant'
    FROM generate_series(1, ${rows}) AS n`);
  await database.query(`
    INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
      balance_after_micros, held_after_micros, submission_id, created_at)
    SELECT gen_random_uuid(), tenant_id, 'hold', 'tenant_available', 'tenant_held', 2, 2, 2, id, created_at
    FROM submissions WHERE tenant_id = '${tenantId}'`);
  await database.query(`
    INSERT INTO deliveries (id, tenant_id, event_id, type, status, created_at, finished_at, round_started_at)
    SELECT (lpad(to_hex(n + (extract(epoch FROM svc_now()) * 1000)::bigint), 12, '0')
        || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
      '${tenantId}', gen_random_uuid(), 'submission.cancelled', 'delivered', svc_now(), svc_now(), svc_now()
    FROM generate_series(1, ${rows}) AS n`);
}
