import { type StatementType, transitions } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { Prisma } from '../generated/client.ts';

/** One line of a tenant's statement, with the balance after it. */
export interface StatementLine {
  id: string;
  type: StatementType;
  amountMicros: bigint;
  balanceAfterMicros: bigint;
  /**
   * All credits held at that moment, including the holds of submissions that were rejected later.
   */
  heldAfterMicros: bigint;
  submissionId: string | null;
  reference: string | null;
  createdAt: Date;
}

export interface StatementFilter {
  type: StatementType | null;
  submissionId: string | null;
  /** The page begins after the entry with this id. */
  afterId: string | null;
  limit: number;
}

export interface StatementPage {
  lines: StatementLine[];
  /** The cursor of the next page. Null on the last page. */
  nextAfterId: string | null;
}

/** An entry. `hidden`: its submission was rejected. */
interface ScannedEntry extends StatementLine {
  hidden: boolean;
}

const scanRowsMax = 1_000;
const scansMax = 5;

/**
 * A page of a tenant's statement, newest first (CONTRACT 5). The holds and releases of
 * rejected submissions are left out. They are skipped while reading, because ledger entries are
 * never deleted or marked. After very many of them a page may be shorter than its limit, so that a
 * page never reads more than `scansMax * scanRowsMax` rows.
 */
export async function readStatement(
  store: Store,
  tenantId: string,
  filter: StatementFilter,
): Promise<StatementPage> {
  const lines: StatementLine[] = [];
  let afterId = filter.afterId;
  for (let scan = 0; scan < scansMax; scan += 1) {
    // Usually few entries are hidden. Each scan reads four times as many rows as the one before.
    const rowsMax = Math.min((filter.limit + 1) * 4 ** scan, scanRowsMax);
    const entries = await scanEntries(store, tenantId, { ...filter, afterId, limit: rowsMax });
    for (const { hidden, ...line } of entries) {
      if (hidden) continue;
      if (lines.length === filter.limit) return { lines, nextAfterId: lines.at(-1)?.id ?? null };
      lines.push(line);
    }
    afterId = entries.at(-1)?.id ?? null;
    if (entries.length < rowsMax) return { lines, nextAfterId: null };
  }
  return { lines, nextAfterId: afterId };
}

const operatorsTypes: readonly StatementType[] = ['grant', 'rebate', 'reversal'];

async function scanEntries(
  store: Store,
  tenantId: string,
  { type, submissionId, afterId, limit }: StatementFilter,
): Promise<ScannedEntry[]> {
  const conditions = [
    Prisma.sql`e.tenant_id = ${tenantId}::uuid AND e.type <> 'rebate_accrual'`,
    ...(type === null ? [] : [Prisma.sql`e.type = ${type}`]),
    // Literals, so that the planner recognises the partial index for them.
    ...(type !== null && operatorsTypes.includes(type)
      ? [Prisma.sql`e.type IN ('grant', 'rebate', 'reversal')`]
      : []),
    ...(submissionId === null ? [] : [Prisma.sql`e.submission_id = ${submissionId}::uuid`]),
    ...(afterId === null
      ? []
      : [
          Prisma.sql`e.sequence < (SELECT sequence FROM ledger_entries
            WHERE id = ${afterId}::uuid AND tenant_id = ${tenantId}::uuid)`,
        ]),
  ];
  const { text, values } = Prisma.sql`
    SELECT e.id, e.type, e.amount_micros, e.balance_after_micros, e.held_after_micros,
      e.submission_id, e.reference, e.created_at, s.state IS NOT DISTINCT FROM ${transitions.reject.to} AS hidden
    FROM ledger_entries e LEFT JOIN submissions s ON s.id = e.submission_id
    WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY e.sequence DESC LIMIT ${limit}`;
  return (await store.query<EntryRow>(text, values)).map(entryOfRow);
}

interface EntryRow {
  readonly id: string;
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
  return {
    id: row.id,
    type: row.type,
    amountMicros: row.amount_micros,
    balanceAfterMicros: row.balance_after_micros,
    heldAfterMicros: row.held_after_micros,
    submissionId: row.submission_id,
    reference: row.reference,
    createdAt: row.created_at,
    hidden: row.hidden,
  };
}
