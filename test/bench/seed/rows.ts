/** SQL that fills a database with submissions of the last months. */

const holdMicros = 200_000_000;
const chargeMicros = 30_500_000;
/** The first submission was created about this many days ago, and the last one a minute ago. */
const days = 90;
/**
 * Only the second half of the tenants have webhooks. The seed has events and deliveries only for
 * these tenants, and only for submissions that ended in the last `notifiedDays` days.
 */
const notifiedDays = 27;

/**
 * The SQL for the number of charged submissions among the first `x`. In each hundred, the first
 * eight are not charged.
 */
const chargedBefore = (x: string) => `((${x}) / 100 * 92 + GREATEST(0, (${x}) % 100 - 8))`;

/** The SQL for the id of row `n` at the time `at`. Like real ids, these ids grow with time. */
const idAt = (at: string, salt: string) =>
  `(lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0')
    || '7' || substr(md5(n || '${salt}'), 1, 3) || '8' || substr(md5(n || '${salt}'), 4, 15))::uuid`;

/**
 * The parameters of the statements that contain `source`. `writeRows` in seed.ts gives their
 * values.
 */
const given = {
  tenantIds: '$1::uuid[]',
  firstN: '$2::bigint',
  lastN: '$3::bigint',
  submissions: '$4',
  firstBalance: '$5::bigint',
  tenants: '$6::bigint',
  now: '$7::timestamptz',
};

/**
 * One row for each submission `n`. `seat` is the index of its tenant, and `turn` the number of
 * earlier submissions of this tenant. `place` decides the state.
 */
const source = `(
  SELECT n, tenant_id, at, turn, place, (${idAt('at', 'submission')}) AS id,
    ${given.firstBalance} - ${chargeMicros} * (${chargedBefore('place')} - ${chargedBefore('seat')}) AS balance,
    CASE WHEN place % 100 < 8 THEN 'failed' WHEN place % 100 < 10 THEN 'cancelled'
      ELSE 'submitted' END AS state,
    CASE WHEN place % 100 < 8 THEN 0 ELSE ${chargeMicros} END AS charge,
    at + interval '40 seconds' AS ended_at, seat >= ${given.tenants} / 2 AS notified
  FROM (
    SELECT n, seat, turn, seat + turn AS place, (${given.tenantIds})[1 + seat] AS tenant_id,
      date_trunc('milliseconds', ${given.now} - interval '1 minute' - (${given.submissions}::bigint - n) * step) AS at
    FROM (
      SELECT n, (n - 1) % ${given.tenants} AS seat, (n - 1) / ${given.tenants} AS turn,
        interval '${days} days' / ${given.submissions}::float8 AS step
      FROM generate_series(${given.firstN}, ${given.lastN}) AS n) counted) placed) s`;

export const submissionsSql = `INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash,
    request_id, job_type, tier, state, quote_estimated_micros, quote_max_micros, surge_micros,
    rate_card_version, available_after_micros, node_id, dispatch_deadline_at, start_deadline_at,
    lease_expires_at, run_deadline_at, usage_node_seconds, usage_cpu_seconds, usage_actions,
    outcome_kind, outcome_by, outcome_at, failure_code, charged_micros, cancelled_by, created_at,
    dispatched_at, started_at, finished_at)
  SELECT id, tenant_id, 'application-' || n, sha256(n::text::bytea), 'req-' || n, 'ats.application',
    'standard', state, 30000000, ${holdMicros}, 1000000, 1, balance - ${holdMicros}, tenant_id,
    at + interval '5 seconds', at + interval '1 minute', ended_at + interval '1 minute',
    at + interval '30 minutes', 12.5, 3.2, 7,
    CASE state WHEN 'submitted' THEN 'completed' WHEN 'failed' THEN 'failed' END,
    CASE WHEN state <> 'cancelled' THEN 'node' END, CASE WHEN state <> 'cancelled' THEN ended_at END,
    CASE state WHEN 'failed' THEN 'ats_rejected' END, charge,
    CASE state WHEN 'cancelled' THEN 'tenant' END, at, at, at, ended_at
  FROM ${source}`;

export const entriesSql = `INSERT INTO ledger_entries (id, tenant_id, type, debit_account,
    credit_account, amount_micros, balance_after_micros, held_after_micros, submission_id, created_at)
  SELECT ${idAt('m.at', "' || m.type || '")}, tenant_id, m.type, m.debit, m.credit, m.amount, m.balance_after,
    m.held_after, s.id, m.at
  FROM ${source} CROSS JOIN LATERAL (VALUES
    ('hold', 'tenant_available', 'tenant_held', ${holdMicros}, balance, ${holdMicros}, s.at),
    ('charge', 'tenant_held', 'revenue', charge, balance - charge, ${holdMicros} - charge, ended_at),
    ('release', 'tenant_held', 'tenant_available', ${holdMicros} - charge, balance - charge, 0, ended_at)
  ) AS m (type, debit, credit, amount, balance_after, held_after, at)
  WHERE m.amount > 0`;

/**
 * One event, one delivery and one attempt for each submission. Leaves out tenants without webhooks,
 * and submissions that ended `notifiedDays` days ago or earlier.
 */
export const notifiedSql = `WITH notified AS (
    SELECT s.*, ${idAt('ended_at', 'event')} AS event_id, ${idAt('ended_at', 'delivery')} AS delivery_id,
      'submission.' || CASE state WHEN 'submitted' THEN 'completed' ELSE state END AS type
    FROM ${source} WHERE notified AND ended_at > ${given.now} - interval '${notifiedDays} days'
  ), event AS (
    INSERT INTO events (id, tenant_id, type, submission_id, body_sealed, request_id, created_at)
    SELECT event_id, tenant_id, type, id, decode(repeat(md5(n::text), 9), 'hex'), 'req-' || n, ended_at
    FROM notified
  ), delivery AS (
    INSERT INTO deliveries (id, tenant_id, event_id, type, status, attempt_count, created_at,
      finished_at, round_started_at)
    SELECT delivery_id, tenant_id, event_id, type, 'delivered', 1, ended_at, ended_at, ended_at FROM notified
  )
  INSERT INTO delivery_attempts (delivery_id, round, number, at, recorded_at, status_code, duration_ms)
  SELECT delivery_id, 1, 1, ended_at, ended_at, 204, 12 FROM notified`;

/**
 * Subtracts the charges of the first `$2` submissions from the balances of the tenants. `$1` are
 * the ids of the tenants, and `$3` is the number of tenants.
 */
export const accountsSql = `UPDATE credit_accounts a
  SET balance_micros = balance_micros - ${chargeMicros} * (${chargedBefore('seat + turns')} - ${chargedBefore('seat')})
  FROM (
    SELECT id, seat, ($2::bigint - seat + $3::bigint - 1) / $3::bigint AS turns
    FROM (SELECT id, ordinality - 1 AS seat FROM unnest($1::uuid[]) WITH ORDINALITY AS t (id, ordinality)) seated
  ) t WHERE a.tenant_id = t.id`;
