import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { isEnded } from '../schema/submission-states.ts';
import { auditEntryPage, ledgerStart, type LedgerPlace } from './ledger-audit-entries.ts';
import { faultsMax, type LedgerFault } from './ledger-fault.ts';

export interface LedgerAudit {
  tenants: number;
  submissions: number;
  /** At most `faultsMax` faults. If there are that many, the ledger may have more. */
  faults: LedgerFault[];
}

export interface LedgerAuditOptions {
  entriesPerPage?: number;
  accountsPerPage?: number;
  submissionsPerPage?: number;
}

/** These three defaults are far below what a statement can read within the store's time limit. */
export const entriesPerPageDefault = 5_000;
export const accountsPerPageDefault = 500;
export const submissionsPerPageDefault = 1_000;
export const firstId = '00000000-0000-0000-0000-000000000000';
/**
 * After this time, the next statement of a page throws `TransactionExpired`. Each statement also
 * has the store's time limit.
 */
const pageTimeoutMs = 60_000;
export const ofOnePage = { isSnapshot: true, timeoutMs: pageTimeoutMs } as const;

/**
 * Audits the whole ledger and changes nothing. Reads it in pages of limited size, each in its own
 * snapshot, so that the service can work meanwhile. Stops at `faultsMax` faults.
 */
export async function auditLedger(
  store: Store,
  options: LedgerAuditOptions = {},
): Promise<LedgerAudit> {
  const audit: LedgerAudit = { tenants: 0, submissions: 0, faults: [] };
  const limits = {
    entries: options.entriesPerPage ?? entriesPerPageDefault,
    accounts: options.accountsPerPage ?? accountsPerPageDefault,
  };
  let place: LedgerPlace | null = ledgerStart;
  while (place !== null && audit.faults.length < faultsMax) {
    const from: LedgerPlace = place;
    const page = await store.transaction((query) => auditEntryPage(query, from, limits), ofOnePage);
    audit.faults.push(...page.faults);
    audit.tenants += page.tenants;
    place = page.next;
  }
  const submissionsPerPage = options.submissionsPerPage ?? submissionsPerPageDefault;
  for (let after = firstId; audit.faults.length < faultsMax;) {
    const page = await store.transaction(
      (query) => auditSubmissions(query, after, submissionsPerPage),
      ofOnePage,
    );
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

/**
 * Audits up to `limit` submissions after the id `after`, and the entries whose submission id is in
 * this range. An entry without its submission is a fault.
 */
export async function auditSubmissions(query: Query, after: string, limit: number): Promise<Page> {
  const rows = await query<{ id: string }>(
    'SELECT id FROM submissions WHERE id > $1::uuid ORDER BY id LIMIT $2',
    [after, limit],
  );
  const ids = rows.map(({ id }) => id);
  const last = ids.at(-1);
  const faults = await auditOrphans(query, after, last ?? null);
  if (last === undefined) return { ids, faults };
  return { ids, faults: [...faults, ...(await auditEndings(query, ids))] };
}

export async function auditSubmissionsOf(query: Query, ids: string[]): Promise<LedgerFault[]> {
  const orphans = await query<LedgerFault>(
    `${orphansSql} WHERE e.submission_id = ANY($1::uuid[])
       AND NOT EXISTS (SELECT FROM submissions s WHERE s.id = e.submission_id)
     ORDER BY e.submission_id LIMIT $2`,
    [ids, faultsMax],
  );
  return [...orphans, ...(await auditEndings(query, ids))];
}

function auditEndings(query: Query, ids: string[]): Promise<LedgerFault[]> {
  return query<LedgerFault>(endingsSql, [ids, faultsMax]);
}

const endingsSql = `
  SELECT CASE WHEN charge > hold OR charged_micros > quote_max_micros THEN 'charged_above_hold'
    ELSE 'hold_not_ended_once' END AS kind, id AS subject, tenant_id AS "tenantId",
    format('%s: held %s of %s, charged %s of %s, released %s', state, hold, quote_max_micros, charge,
      COALESCE(charged_micros::text, 'none'), release) AS detail
  FROM (
    SELECT s.id, s.tenant_id, s.state, s.quote_max_micros, s.charged_micros,
      s.state ${isEnded} AS ended,
      COALESCE(sum(e.amount_micros) FILTER (WHERE e.type = 'hold'), 0) AS hold,
      COALESCE(sum(e.amount_micros) FILTER (WHERE e.type = 'charge'), 0) AS charge,
      COALESCE(sum(e.amount_micros) FILTER (WHERE e.type = 'release'), 0) AS release
    FROM submissions s LEFT JOIN ledger_entries e ON e.submission_id = s.id
    WHERE s.id = ANY($1::uuid[]) GROUP BY s.id) s
  WHERE hold <> quote_max_micros OR charge <> COALESCE(charged_micros, 0)
    OR charge + release <> CASE WHEN ended THEN hold ELSE 0 END
  ORDER BY id LIMIT $2`;

const orphansSql = `
  SELECT 'entry_without_submission' AS kind, e.id AS subject, e.tenant_id AS "tenantId",
    format('%s of %s for submission %s', e.type, e.amount_micros, e.submission_id) AS detail
  FROM ledger_entries e`;

function auditOrphans(query: Query, after: string, last: string | null): Promise<LedgerFault[]> {
  return query<LedgerFault>(
    `${orphansSql}
     WHERE e.submission_id > $1::uuid
       AND e.submission_id <= COALESCE($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       AND NOT EXISTS (SELECT FROM submissions s WHERE s.id = e.submission_id)
     ORDER BY e.submission_id LIMIT $3`,
    [after, last, faultsMax],
  );
}
