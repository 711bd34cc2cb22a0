import { Pool } from 'pg';

/**
 * The tables have few columns and indexes. With more, the baseline's Postgres would do more work,
 * and the comparison would favour the product.
 */

const schema = `
  CREATE SCHEMA baseline;
  CREATE TABLE tenants (
    id uuid PRIMARY KEY, hmac_secret text NOT NULL, webhook_secret text NOT NULL, webhook_url text
  );
  CREATE TABLE accounts (
    tenant_id uuid PRIMARY KEY REFERENCES tenants (id), balance bigint NOT NULL, held bigint NOT NULL DEFAULT 0,
    CHECK (held >= 0 AND balance >= held)
  );
  CREATE TABLE submissions (
    id uuid PRIMARY KEY, tenant_id uuid NOT NULL, idempotency_key text NOT NULL, request_hash text NOT NULL,
    payload text NOT NULL, state text NOT NULL, quote_max bigint NOT NULL, available_after bigint NOT NULL,
    node_id text, usage jsonb, charged bigint, created_at timestamptz NOT NULL DEFAULT now(),
    dispatched_at timestamptz, finished_at timestamptz, UNIQUE (tenant_id, idempotency_key)
  );
  CREATE TABLE ledger (
    id bigserial PRIMARY KEY, tenant_id uuid NOT NULL, submission_id uuid NOT NULL, type text NOT NULL,
    amount bigint NOT NULL, balance_after bigint NOT NULL, held_after bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), UNIQUE (submission_id, type)
  );
  CREATE INDEX ON ledger (tenant_id, id);
  CREATE TABLE events (
    id uuid PRIMARY KEY, tenant_id uuid NOT NULL, submission_id uuid NOT NULL, body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), delivered_at timestamptz
  );`;

const poolMax = 16;

export function openPool(databaseUrl: string): Pool {
  const pool = new Pool({
    connectionString: databaseUrl,
    max: poolMax,
    options: '-c search_path=baseline',
  });
  pool.on('error', () => {});
  return pool;
}

export async function createBaselineTables(pool: Pool): Promise<void> {
  await pool.query(schema);
}

/** Each call is one round trip and one commit. */
export async function one<Row extends object>(
  pool: Pool,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Row | undefined> {
  const { rows } = await pool.query<Row>({ name, text, values: [...values] });
  return rows[0];
}

export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Holds credits for a new submission. Returns no row if the available credit is too small. */
export const holdStatement: Statement = {
  name: 'hold',
  text: `WITH account AS (
      UPDATE accounts SET held = held + $6::bigint WHERE tenant_id = $2 AND balance - held >= $6::bigint
      RETURNING balance, held
    ), submission AS (
      INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, payload, state, quote_max, available_after)
      SELECT $1, $2, $3, $4, $5, 'pending', $6::bigint, balance - held FROM account
    ), entry AS (
      INSERT INTO ledger (tenant_id, submission_id, type, amount, balance_after, held_after)
      SELECT $2, $1, 'hold', $6::bigint, balance, held FROM account
    )
    SELECT balance - held AS available FROM account`,
};

export const keyedStatement: Statement = {
  name: 'keyed',
  text: `SELECT id, request_hash, quote_max, available_after FROM submissions
    WHERE tenant_id = $1 AND idempotency_key = $2`,
};

export const rejectStatement: Statement = {
  name: 'reject',
  text: `WITH gone AS (
      DELETE FROM submissions WHERE id = $1 AND state = 'pending' RETURNING id, tenant_id, quote_max
    ), account AS (
      UPDATE accounts a SET held = a.held - gone.quote_max FROM gone WHERE a.tenant_id = gone.tenant_id
      RETURNING a.tenant_id, a.balance, a.held, gone.id, gone.quote_max
    )
    INSERT INTO ledger (tenant_id, submission_id, type, amount, balance_after, held_after)
    SELECT tenant_id, id, 'release', quote_max, balance, held FROM account`,
};

export const dispatchedStatement: Statement = {
  name: 'dispatched',
  text: `UPDATE submissions SET state = 'dispatched', node_id = $2, dispatched_at = now()
    WHERE id = $1 AND state = 'pending' RETURNING payload`,
};

export const outcomeStatement: Statement = {
  name: 'outcome',
  text: `UPDATE submissions SET state = $3, usage = $4
    WHERE id = $1 AND node_id = $2 AND state = 'dispatched' RETURNING id`,
};

/**
 * Settles a submission, at the default prices of the tier `standard`. A failed submission is not
 * charged. If the statement runs again for the same submission, it changes nothing.
 */
export const settleStatement: Statement = {
  name: 'settle',
  text: `WITH ended AS (
      UPDATE submissions SET finished_at = now(),
        state = CASE state WHEN 'completed' THEN 'submitted' ELSE 'failed' END,
        charged = CASE state WHEN 'completed' THEN LEAST(quote_max, GREATEST(10000000, round(1000000 * (20
          + 0.5 * COALESCE((usage->>'nodeSeconds')::numeric, 0) + 0.2 * COALESCE((usage->>'cpuSeconds')::numeric, 0)
          + 0.05 * COALESCE((usage->>'memoryGbSeconds')::numeric, 0)
          + 0.1 * COALESCE((usage->>'bandwidthMb')::numeric, 0)
          + 0.5 * COALESCE((usage->>'actions')::numeric, 0)))::bigint)) ELSE 0 END
      WHERE id = $1 AND state IN ('completed', 'unsuccessful')
      RETURNING id, tenant_id, state, quote_max, charged
    ), account AS (
      UPDATE accounts a SET balance = a.balance - ended.charged, held = a.held - ended.quote_max
      FROM ended WHERE a.tenant_id = ended.tenant_id RETURNING a.balance, a.held
    ), entries AS (
      INSERT INTO ledger (tenant_id, submission_id, type, amount, balance_after, held_after)
      SELECT tenant_id, id, type, amount, balance, held FROM ended CROSS JOIN account
      CROSS JOIN LATERAL (VALUES ('charge', charged), ('release', quote_max - charged)) AS m (type, amount)
      WHERE amount > 0
    ), event AS (
      INSERT INTO events (id, tenant_id, submission_id, body)
      SELECT $2, tenant_id, id, json_build_object('id', $3::text,
        'type', CASE state WHEN 'submitted' THEN 'submission.completed' ELSE 'submission.failed' END,
        'timestamp', $4::text, 'data', json_build_object('submissionId', $5::text, 'jobType', 'ats.application',
          'tier', 'standard', 'status', state, 'actualCredits', charged / 1000000.0,
          'refundedCredits', (quote_max - charged) / 1000000.0))::text
      FROM ended
    )
    SELECT t.webhook_url FROM ended JOIN tenants t ON t.id = ended.tenant_id`,
};

export const eventStatement: Statement = {
  name: 'event',
  text: `SELECT e.body, t.webhook_url, t.webhook_secret FROM events e JOIN tenants t ON t.id = e.tenant_id
    WHERE e.id = $1 AND e.delivered_at IS NULL`,
};

export const deliveredStatement: Statement = {
  name: 'delivered',
  text: 'UPDATE events SET delivered_at = now() WHERE id = $1',
};

export const readStatement: Statement = {
  name: 'read',
  text: 'SELECT id, state, quote_max, charged FROM submissions WHERE id = $1 AND tenant_id = $2',
};

export const balanceStatement: Statement = {
  name: 'balance',
  text: 'SELECT balance, held FROM accounts WHERE tenant_id = $1',
};

export const tenantStatement: Statement = {
  name: 'tenant',
  text: 'SELECT id, hmac_secret FROM tenants WHERE id = $1',
};
