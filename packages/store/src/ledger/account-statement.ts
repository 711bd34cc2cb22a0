import type { StatementType } from '@svc/domain';
import { Prisma } from '../generated/client.ts';
import type { Store } from '../connection/store.ts';

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

interface EntryRow extends StatementLine {
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
    const rows = await scanEntries(store, tenantId, { ...filter, afterId, limit: rowsMax });
    for (const { hidden, ...line } of rows) {
      if (hidden) continue;
      if (lines.length === filter.limit) return { lines, nextAfterId: lines.at(-1)?.id ?? null };
      lines.push(line);
    }
    afterId = rows.at(-1)?.id ?? null;
    if (rows.length < rowsMax) return { lines, nextAfterId: null };
  }
  return { lines, nextAfterId: afterId };
}

const operatorsTypes: readonly StatementType[] = ['grant', 'rebate', 'reversal'];

async function scanEntries(
  store: Store,
  tenantId: string,
  { type, submissionId, afterId, limit }: StatementFilter,
): Promise<EntryRow[]> {
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
  return store.db.$queryRaw<EntryRow[]>`
    SELECT e.id, e.type, e.amount_micros AS "amountMicros", e.balance_after_micros AS "balanceAfterMicros",
      e.held_after_micros AS "heldAfterMicros", e.submission_id AS "submissionId", e.reference,
      e.created_at AS "createdAt", s.state IS NOT DISTINCT FROM 'rejected' AS hidden
    FROM ledger_entries e LEFT JOIN submissions s ON s.id = e.submission_id
    WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY e.sequence DESC LIMIT ${limit}`;
}
