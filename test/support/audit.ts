import type { TestStack } from '@svc/testkit';

/**
 * Checks that the money adds up, and that each end that a tenant sees has one event. Works at any
 * moment of a run and returns one text for each violation.
 */
export async function auditMoney(query: TestStack['query']): Promise<string[]> {
  const violations: string[] = [];
  for (const { violation, sql } of checks) {
    for (const row of await query<{ subject: string; detail: string }>(sql)) {
      violations.push(`${row.subject}: ${violation} (${row.detail})`);
    }
  }
  return violations;
}

const checks = [
  {
    violation: 'balance, held or rebate of the account is not the sum of its entries',
    sql: `SELECT a.tenant_id AS subject, a.balance_micros || '/' || a.held_micros AS detail
      FROM credit_accounts a LEFT JOIN LATERAL (
        SELECT COALESCE(sum(amount_micros * ((credit_account LIKE 'tenant_%')::int - (debit_account LIKE 'tenant_%')::int)), 0) AS balance,
          COALESCE(sum(amount_micros * ((credit_account = 'tenant_held')::int - (debit_account = 'tenant_held')::int)), 0) AS held,
          COALESCE(sum(amount_micros * ((credit_account = 'rebate')::int - (debit_account = 'rebate')::int)), 0) AS rebate
        FROM ledger_entries e WHERE e.tenant_id = a.tenant_id) e ON true
      WHERE a.balance_micros <> e.balance OR a.held_micros <> e.held OR a.rebate_accrued_micros <> e.rebate`,
  },
  {
    violation: 'the held amount differs from the holds of the submissions in flight',
    sql: `SELECT a.tenant_id AS subject, a.held_micros::text AS detail FROM credit_accounts a
      WHERE a.held_micros <> (SELECT COALESCE(sum(quote_max_micros), 0) FROM submissions s
        WHERE s.tenant_id = a.tenant_id AND state IN ('pending', 'dispatched', 'running', 'settling'))`,
  },
  {
    violation: 'the in-flight count differs from the number of submissions in flight',
    sql: `SELECT a.tenant_id AS subject, a.in_flight::text AS detail FROM credit_accounts a
      WHERE a.in_flight <> (SELECT count(*) FROM submissions s
        WHERE s.tenant_id = a.tenant_id AND state IN ('pending', 'dispatched', 'running', 'settling'))`,
  },
  {
    violation: 'the row in submissions_in_flight is missing, has a wrong tenant or must not exist',
    sql: `SELECT COALESCE(s.id, f.submission_id) AS subject, s.state AS detail
      FROM submissions s FULL JOIN submissions_in_flight f ON f.submission_id = s.id
      WHERE (s.finished_at IS NULL) IS DISTINCT FROM (f.submission_id IS NOT NULL)
        OR s.tenant_id IS DISTINCT FROM COALESCE(f.tenant_id, s.tenant_id)`,
  },
  {
    violation: 'the entries of an ended submission do not fit its hold and its charge',
    sql: `SELECT s.id AS subject, s.state AS detail FROM submissions s LEFT JOIN LATERAL (
        SELECT COALESCE(sum(amount_micros) FILTER (WHERE type = 'hold'), 0) AS hold,
          COALESCE(sum(amount_micros) FILTER (WHERE type = 'charge'), 0) AS charge,
          COALESCE(sum(amount_micros) FILTER (WHERE type = 'release'), 0) AS release
        FROM ledger_entries e WHERE e.submission_id = s.id) e ON true
      WHERE state IN ('submitted', 'failed', 'cancelled', 'rejected')
        AND (e.hold <> s.quote_max_micros OR e.charge + e.release <> e.hold OR e.charge <> COALESCE(s.charged_micros, 0))`,
  },
  {
    violation: 'the ledger entries of a submission in flight are not exactly one hold',
    sql: `SELECT s.id AS subject, s.state AS detail FROM submissions s
      WHERE state IN ('pending', 'dispatched', 'running', 'settling')
        AND (SELECT array_agg(type ORDER BY type) FROM ledger_entries e WHERE e.submission_id = s.id) IS DISTINCT FROM ARRAY['hold']`,
  },
  {
    violation: 'an ended submission does not have exactly one event of its end',
    sql: `SELECT s.id AS subject, s.state AS detail FROM submissions s
      WHERE state IN ('submitted', 'failed', 'cancelled')
        AND (SELECT count(*) FROM events e WHERE e.submission_id = s.id AND type <> 'submission.late_outcome') <> 1`,
  },
];
