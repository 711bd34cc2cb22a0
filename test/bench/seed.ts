import type { System } from './systems.ts';

const rowsPerStatement = 100_000;

/** Finished submissions with their entries, as many as asked, as months of operation leave them. */
export async function seedSubmissions(system: System, rows: number): Promise<void> {
  if (rows === 0) return;
  for (let from = 1; from <= rows; from += rowsPerStatement) {
    const to = Math.min(rows, from + rowsPerStatement - 1);
    for (const sql of system.name === 'product' ? product(from, to) : floor(from, to))
      await system.query(sql);
  }
  await system.query('ANALYZE');
}

/** An id as it was given out `n` seconds ago. */
const id = `(lpad(to_hex((extract(epoch FROM now() - n * interval '1 second') * 1000)::bigint), 12, '0')
  || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid`;

const product = (from: number, to: number): string[] => [
  `INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier, state,
     quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version, available_after_micros,
     dispatch_deadline_at, created_at, finished_at, charged_micros, cancelled_by)
   SELECT ${id}, gen_random_uuid(), 'seed-' || n, '\\x00', 'seed', 'ats.application', 'standard', 'cancelled',
     0, 2, 1000000, 1, 0, now(), now() - n * interval '1 second', now(), 1, 'tenant'
   FROM generate_series(${from}, ${to}) AS n`,
  `INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
     balance_after_micros, held_after_micros, submission_id, created_at)
   SELECT gen_random_uuid(), gen_random_uuid(), m.type, m.debit, m.credit, 1, 1, 0, ${id}, now()
   FROM generate_series(${from}, ${to}) AS n CROSS JOIN (VALUES ('hold', 'tenant_available', 'tenant_held'),
     ('charge', 'tenant_held', 'revenue'), ('release', 'tenant_held', 'tenant_available')) AS m (type, debit, credit)`,
];

const floor = (from: number, to: number): string[] => [
  `INSERT INTO floor.submissions (id, tenant_id, idempotency_key, request_hash, payload, state, quote_max,
     available_after, charged, finished_at)
   SELECT ${id}, gen_random_uuid(), 'seed-' || n, '', '{}', 'submitted', 2, 0, 1, now()
   FROM generate_series(${from}, ${to}) AS n`,
  `INSERT INTO floor.ledger (tenant_id, submission_id, type, amount, balance_after, held_after)
   SELECT gen_random_uuid(), ${id}, type, 1, 1, 0
   FROM generate_series(${from}, ${to}) AS n CROSS JOIN (VALUES ('hold'), ('charge'), ('release')) AS m (type)`,
];
