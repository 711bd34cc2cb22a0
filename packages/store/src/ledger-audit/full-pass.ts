import { ledgerAuditIntervalMs, ledgerFullAuditMs } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { auditEntryPage } from '../ledger/ledger-audit-entries.ts';
import { auditSubmissions, firstId, ofOnePage } from '../ledger/ledger-audit.ts';
import type { LedgerFault } from '../ledger/ledger-fault.ts';
import { type AuditLease, writeStep } from './audit-lease.ts';
import {
  type AuditState,
  type FullPass,
  fullPassFrom,
  type FullPlace,
  withFaults,
  withoutEarlier,
} from './audit-state.ts';

/**
 * The full pass uses no checkpoint, so it also finds changes to entries that a checkpoint covers.
 * On a large ledger, the full pass takes about a day, over many audits.
 */

export interface FullLimits {
  readonly entriesPerPage: number;
  readonly accountsPerPage: number;
  readonly submissionsPerPage: number;
  /**
   * `auditNextPart` reads between `pagesMin` and `pagesMax` pages per call, or fewer at the end of
   * a pass.
   */
  readonly pagesMin: number;
  readonly pagesMax: number;
}

/**
 * Reads the next pages of the full pass. After `pagesMin` pages, stops as soon as the pass has read
 * as many rows as are due (`rowsDueOf`).
 */
export async function auditNextPart(
  store: Store,
  lease: AuditLease,
  limits: FullLimits,
): Promise<void> {
  const { pass } = lease.state.full;
  const rowsDue = rowsDueOf(lease.state.full, lease.at, await ledgerRows(store.query));
  for (let page = 0; page < limits.pagesMax; page += 1) {
    const { place, rows } = lease.state.full;
    if (page >= limits.pagesMin && rows >= rowsDue) return;
    const read = await store.transaction((query) => readPage(query, place, limits), ofOnePage);
    await writeStep(store, lease, (state, now) => afterPage(state, now, read));
    if (lease.state.full.pass !== pass) return;
  }
}

/**
 * The number of rows that the pass must have read at the end of this audit. Infinite if the pass
 * must end before the next audit; `pagesMax` then limits the audit.
 */
export function rowsDueOf({ startedAt }: FullPass, now: Date, rows: number): number {
  const elapsedMs = now.getTime() - startedAt.getTime() + ledgerAuditIntervalMs;
  if (elapsedMs >= ledgerFullAuditMs) return Number.POSITIVE_INFINITY;
  return Math.ceil((rows * elapsedMs) / ledgerFullAuditMs);
}

/** The approximate number of entries and submissions, as Postgres estimates it. */
export async function ledgerRows(query: Query): Promise<number> {
  const [row] = await query<{ rows: number }>(
    `SELECT COALESCE(sum(GREATEST(reltuples, 0)), 0)::float8 AS rows FROM pg_class
     WHERE oid IN ('ledger_entries'::regclass, 'submissions'::regclass)`,
    [],
  );
  return row?.rows ?? 0;
}

interface ReadPage {
  readonly faults: readonly LedgerFault[];
  readonly tenants: number;
  readonly submissions: number;
  readonly rows: number;
  /** Null at the end of the pass. */
  readonly next: FullPlace | null;
}

async function readPage(query: Query, from: FullPlace, limits: FullLimits): Promise<ReadPage> {
  if (from.kind === 'entries') {
    const { entriesPerPage: entries, accountsPerPage: accounts } = limits;
    const page = await auditEntryPage(query, from.place, { entries, accounts });
    const next: FullPlace =
      page.next === null
        ? { kind: 'submissions', after: firstId }
        : { kind: 'entries', place: page.next };
    return { ...page, submissions: 0, rows: page.entries, next };
  }
  const { ids, faults } = await auditSubmissions(query, from.after, limits.submissionsPerPage);
  const last = ids.at(-1);
  const next = last === undefined ? null : ({ kind: 'submissions', after: last } as const);
  return { faults, tenants: 0, submissions: ids.length, rows: ids.length, next };
}

function afterPage(state: AuditState, now: Date, read: ReadPage): AuditState {
  const { full } = state;
  const found = withFaults(state, 'full', full.pass, read.faults);
  const tenants = full.tenants + read.tenants;
  const submissions = full.submissions + read.submissions;
  if (read.next !== null) {
    const rows = full.rows + read.rows;
    return { ...found, full: { ...full, place: read.next, tenants, submissions, rows } };
  }
  return {
    ...withoutEarlier(found, 'full', full.pass),
    full: fullPassFrom(full.pass + 1, now),
    lastFull: { at: now, tenants, submissions },
  };
}
