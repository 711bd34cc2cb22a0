import { Prisma } from './generated/client.ts';
import type { Queryable, Store } from './store.ts';

/** What the auditor can find wrong. Each kind has a test that plants it. */
export type LedgerFaultKind =
  | 'movement_not_allowed'
  | 'account_differs_from_entries'
  | 'held_differs_from_holds'
  | 'in_flight_differs_from_holds'
  | 'figures_differ_from_entries'
  | 'hold_not_ended_once'
  | 'charged_above_hold'
  | 'entry_without_submission';

export interface LedgerFault {
  kind: LedgerFaultKind;
  /** The tenant's, submission's or entry's UUID. */
  subject: string;
  detail: string;
}

export interface LedgerAudit {
  tenants: number;
  submissions: number;
  /** At most `faultsMax`; there may be more of the same. */
  faults: LedgerFault[];
}

export interface LedgerAuditOptions {
  /** Tenants and submissions looked at in one snapshot. */
  tenantsPerPage?: number;
  submissionsPerPage?: number;
}

const faultsMax = 100;
const tenantsPerPageDefault = 100;
const submissionsPerPageDefault = 1_000;
const firstId = '00000000-0000-0000-0000-000000000000';
const pageTimeoutMs = 60_000;

/**
 * Looks through the whole ledger, a bounded page at a time, each page in one snapshot, so that it
 * may run beside the service: every account against its entries, what is held against the holds in
 * flight, the figures after each entry against the entries before it, and every ended submission
 * against its charge and release. It changes nothing.
 */
export async function auditLedger(
  store: Store,
  options: LedgerAuditOptions = {},
): Promise<LedgerAudit> {
  const audit: LedgerAudit = { tenants: 0, submissions: 0, faults: [] };
  const tenantsPerPage = options.tenantsPerPage ?? tenantsPerPageDefault;
  for (let after = firstId; audit.faults.length < faultsMax;) {
    const page = await inSnapshot(store, (tx) => auditTenants(tx, after, tenantsPerPage));
    audit.faults.push(...page.faults);
    audit.tenants += page.ids.length;
    const last = page.ids.at(-1);
    if (last === undefined) break;
    after = last;
  }
  const submissionsPerPage = options.submissionsPerPage ?? submissionsPerPageDefault;
  for (let after = firstId; audit.faults.length < faultsMax;) {
    const page = await inSnapshot(store, (tx) => auditSubmissions(tx, after, submissionsPerPage));
    audit.faults.push(...page.faults);
    audit.submissions += page.ids.length;
    const last = page.ids.at(-1);
    if (last === undefined) break;
    after = last;
  }
  audit.faults.length = Math.min(audit.faults.length, faultsMax);
  return audit;
}

interface Page {
  ids: string[];
  faults: LedgerFault[];
}

function inSnapshot(store: Store, read: (tx: Queryable) => Promise<Page>): Promise<Page> {
  // The pool's settings are for short statements by index; a page of the audit reads much.
  const readPage = async (tx: Queryable): Promise<Page> => {
    await tx.$executeRaw`SET LOCAL enable_seqscan = on`;
    return read(tx);
  };
  return store.db.$transaction(readPage, {
    isolationLevel: Prisma.TransactionIsolationLevel.RepeatableRead,
    timeout: pageTimeoutMs,
  });
}

async function auditTenants(tx: Queryable, after: string, limit: number): Promise<Page> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT tenant_id AS id FROM credit_accounts WHERE tenant_id > ${after}::uuid
    ORDER BY tenant_id LIMIT ${limit}`;
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return { ids, faults: [] };
  const faults = [
    ...(await auditAccounts(tx, ids)),
    ...(await auditHolds(tx, ids)),
    ...(await auditEntries(tx, ids)),
  ];
  return { ids, faults };
}

/** What an entry adds to a tenant's account of this name. */
const change = (account: string) =>
  Prisma.raw(
    `(amount_micros * ((credit_account = '${account}')::int - (debit_account = '${account}')::int))`,
  );
const availableChange = change('tenant_available');
const heldChange = change('tenant_held');
const rebateChange = change('rebate');

function auditAccounts(tx: Queryable, ids: string[]): Promise<LedgerFault[]> {
  return tx.$queryRaw<LedgerFault[]>`
    SELECT 'account_differs_from_entries' AS kind, a.tenant_id AS subject,
      format('balance %s, held %s, rebate %s; by its entries %s, %s, %s', a.balance_micros, a.held_micros,
        a.rebate_accrued_micros, e.balance, e.held, e.rebate) AS detail
    FROM credit_accounts a LEFT JOIN (
      SELECT tenant_id, sum(${availableChange} + ${heldChange}) AS balance, sum(${heldChange}) AS held,
        sum(${rebateChange}) AS rebate
      FROM ledger_entries WHERE tenant_id = ANY(${ids}::uuid[]) GROUP BY tenant_id) e USING (tenant_id)
    WHERE a.tenant_id = ANY(${ids}::uuid[]) AND (a.balance_micros <> COALESCE(e.balance, 0)
      OR a.held_micros <> COALESCE(e.held, 0) OR a.rebate_accrued_micros <> COALESCE(e.rebate, 0))
    ORDER BY a.tenant_id LIMIT ${faultsMax}`;
}

function auditHolds(tx: Queryable, ids: string[]): Promise<LedgerFault[]> {
  return tx.$queryRaw<LedgerFault[]>`
    SELECT CASE WHEN a.held_micros <> COALESCE(s.held, 0) THEN 'held_differs_from_holds'
      ELSE 'in_flight_differs_from_holds' END AS kind, a.tenant_id AS subject,
      format('held %s by %s; holds in flight %s by %s', a.held_micros, a.in_flight, COALESCE(s.held, 0),
        COALESCE(s.count, 0)) AS detail
    FROM credit_accounts a LEFT JOIN (
      SELECT tenant_id, sum(quote_max_micros) AS held, count(*) AS count FROM submissions
      WHERE state IN ('pending', 'dispatched', 'running', 'settling') AND tenant_id = ANY(${ids}::uuid[])
      GROUP BY tenant_id) s USING (tenant_id)
    WHERE a.tenant_id = ANY(${ids}::uuid[])
      AND (a.held_micros <> COALESCE(s.held, 0) OR a.in_flight <> COALESCE(s.count, 0))
    ORDER BY a.tenant_id LIMIT ${faultsMax}`;
}

/** Each entry by itself, and its figures against the running sum of the tenant's entries. */
function auditEntries(tx: Queryable, ids: string[]): Promise<LedgerFault[]> {
  return tx.$queryRaw<LedgerFault[]>`
    SELECT CASE WHEN NOT allowed THEN 'movement_not_allowed' ELSE 'figures_differ_from_entries' END AS kind,
      id AS subject, format('%s of %s: balance after %s, held after %s; by the entries %s, %s', type,
        amount_micros, balance_after_micros, held_after_micros, balance, held) AS detail
    FROM (
      SELECT id, type, amount_micros, balance_after_micros, held_after_micros, sequence,
        amount_micros > 0 AND (type, debit_account, credit_account) IN (
          ('grant', 'issuance', 'tenant_available'), ('hold', 'tenant_available', 'tenant_held'),
          ('charge', 'tenant_held', 'revenue'), ('release', 'tenant_held', 'tenant_available'),
          ('rebate_accrual', 'revenue', 'rebate'), ('rebate', 'rebate', 'tenant_available'),
          ('reversal', 'tenant_available', 'issuance')) AS allowed,
        sum(${availableChange} + ${heldChange}) OVER by_tenant AS balance, sum(${heldChange}) OVER by_tenant AS held
      FROM ledger_entries WHERE tenant_id = ANY(${ids}::uuid[])
      WINDOW by_tenant AS (PARTITION BY tenant_id ORDER BY sequence)) e
    WHERE NOT allowed OR balance_after_micros <> balance OR held_after_micros <> held
    ORDER BY sequence LIMIT ${faultsMax}`;
}

async function auditSubmissions(tx: Queryable, after: string, limit: number): Promise<Page> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM submissions WHERE id > ${after}::uuid ORDER BY id LIMIT ${limit}`;
  const ids = rows.map(({ id }) => id);
  const last = ids.at(-1);
  const faults = await auditOrphans(tx, after, last ?? null);
  if (last === undefined) return { ids, faults };
  return { ids, faults: [...faults, ...(await auditEndings(tx, ids))] };
}

function auditEndings(tx: Queryable, ids: string[]): Promise<LedgerFault[]> {
  return tx.$queryRaw<LedgerFault[]>`
    SELECT CASE WHEN charge > hold OR charged_micros > quote_max_micros THEN 'charged_above_hold'
      ELSE 'hold_not_ended_once' END AS kind, id AS subject,
      format('%s: held %s of %s, charged %s of %s, released %s', state, hold, quote_max_micros, charge,
        COALESCE(charged_micros::text, 'none'), release) AS detail
    FROM (
      SELECT s.id, s.state, s.quote_max_micros, s.charged_micros,
        s.state IN ('submitted', 'failed', 'cancelled', 'rejected') AS ended,
        COALESCE(sum(e.amount_micros) FILTER (WHERE e.type = 'hold'), 0) AS hold,
        COALESCE(sum(e.amount_micros) FILTER (WHERE e.type = 'charge'), 0) AS charge,
        COALESCE(sum(e.amount_micros) FILTER (WHERE e.type = 'release'), 0) AS release
      FROM submissions s LEFT JOIN ledger_entries e ON e.submission_id = s.id
      WHERE s.id = ANY(${ids}::uuid[]) GROUP BY s.id) s
    WHERE hold <> quote_max_micros OR charge <> COALESCE(charged_micros, 0)
      OR charge + release <> CASE WHEN ended THEN hold ELSE 0 END
    ORDER BY id LIMIT ${faultsMax}`;
}

/** Entries of submissions that are not there, among the ids after `after` up to `last`. */
function auditOrphans(tx: Queryable, after: string, last: string | null): Promise<LedgerFault[]> {
  return tx.$queryRaw<LedgerFault[]>`
    SELECT 'entry_without_submission' AS kind, e.id AS subject,
      format('%s of %s for submission %s', e.type, e.amount_micros, e.submission_id) AS detail
    FROM ledger_entries e
    WHERE e.submission_id > ${after}::uuid AND e.submission_id <= COALESCE(${last}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      AND NOT EXISTS (SELECT FROM submissions s WHERE s.id = e.submission_id)
    ORDER BY e.submission_id LIMIT ${faultsMax}`;
}
