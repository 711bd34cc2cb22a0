import { type StatementType, transitions } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { Prisma } from '../generated/client.ts';

export interface StatementLine {
  id: string;
  type: StatementType;
  amountMicros: bigint;
  balanceAfterMicros: bigint;
  /**
   * All credits held after the entry, including the holds of submissions that were rejected later.
   */
  heldAfterMicros: bigint;
  submissionId: string | null;
  reference: string | null;
  createdAt: Date;
}

export interface EntryPlace {
  readonly id: string;
  /**
   * The number of the entry in the ledger. Null in a cursor from a gateway of an earlier version:
   * the entry is then looked up by its id.
   */
  readonly sequence: bigint | null;
}

export interface StatementFilter {
  type: StatementType | null;
  submissionId: string | null;
  /** `nextAfter` of the previous page. Null for the first page. */
  after: EntryPlace | null;
  limit: number;
}

export interface StatementPage {
  lines: StatementLine[];
  /** The entry after which the next page begins. Null on the last page. */
  nextAfter: EntryPlace | null;
}

interface ScannedEntry {
  readonly line: StatementLine;
  readonly place: EntryPlace;
  /** True for the hold and the release of a rejected submission. */
  readonly hidden: boolean;
}

const scanRowsMax = 1_000;
const scansMax = 5;

/**
 * A page of a tenant's statement, newest first (CONTRACT 5), without the entries of rejected
 * submissions. It may be shorter than `filter.limit` although `nextAfter` is set.
 */
export async function readStatement(
  store: Store,
  tenantId: string,
  filter: StatementFilter,
): Promise<StatementPage> {
  const lines: StatementLine[] = [];
  let last: EntryPlace | null = null;
  let after = filter.after;
  for (let scan = 0; scan < scansMax; scan += 1) {
    // Usually few entries are hidden, so the first scan is small.
    const rowsMax = Math.min((filter.limit + 1) * 4 ** scan, scanRowsMax);
    const entries = await scanEntries(store, tenantId, { ...filter, after, limit: rowsMax });
    for (const { hidden, line, place } of entries) {
      if (hidden) continue;
      if (lines.length === filter.limit) return { lines, nextAfter: last };
      lines.push(line);
      last = place;
    }
    after = entries.at(-1)?.place ?? null;
    if (entries.length < rowsMax) return { lines, nextAfter: null };
  }
  return { lines, nextAfter: after };
}

const operatorsTypes: readonly StatementType[] = ['grant', 'rebate', 'reversal'];

async function scanEntries(
  store: Store,
  tenantId: string,
  { type, submissionId, after, limit }: StatementFilter,
): Promise<ScannedEntry[]> {
  const conditions = [
    Prisma.sql`e.tenant_id = ${tenantId}::uuid AND e.type <> 'rebate_accrual'`,
    ...(type === null ? [] : [Prisma.sql`e.type = ${type}`]),
    // Repeats the condition of the index `ledger_entries_operators_idx` with literals, so that the
    // planner recognises this partial index.
    ...(type !== null && operatorsTypes.includes(type)
      ? [Prisma.sql`e.type IN ('grant', 'rebate', 'reversal')`]
      : []),
    ...(submissionId === null ? [] : [Prisma.sql`e.submission_id = ${submissionId}::uuid`]),
    ...(after === null ? [] : [isBehind(tenantId, after)]),
  ];
  const { text, values } = Prisma.sql`
    SELECT e.id, e.sequence, e.type, e.amount_micros, e.balance_after_micros, e.held_after_micros,
      e.submission_id, e.reference, e.created_at, s.state IS NOT DISTINCT FROM ${transitions.reject.to} AS hidden
    FROM ledger_entries e LEFT JOIN submissions s ON s.id = e.submission_id
    WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY e.sequence DESC LIMIT ${limit}`;
  return (await store.query<EntryRow>(text, values)).map(entryOfRow);
}

function isBehind(tenantId: string, { id, sequence }: EntryPlace): Prisma.Sql {
  if (sequence !== null) return Prisma.sql`e.sequence < ${sequence}::bigint`;
  return Prisma.sql`e.sequence < (SELECT sequence FROM ledger_entries
    WHERE id = ${id}::uuid AND tenant_id = ${tenantId}::uuid)`;
}

interface EntryRow {
  readonly id: string;
  readonly sequence: bigint;
  readonly type: StatementType;
  readonly amount_micros: bigint;
  readonly balance_after_micros: bigint;
  readonly held_after_micros: bigint;
  readonly submission_id: string | null;
  readonly reference: string | null;
  readonly created_at: Date;
  readonly hidden: boolean;
}

function entryOfRow(row: EntryRow): ScannedEntry {
  const { id, sequence, hidden } = row;
  const line = {
    id,
    type: row.type,
    amountMicros: row.amount_micros,
    balanceAfterMicros: row.balance_after_micros,
    heldAfterMicros: row.held_after_micros,
    submissionId: row.submission_id,
    reference: row.reference,
    createdAt: row.created_at,
  };
  return { line, place: { id, sequence }, hidden };
}
