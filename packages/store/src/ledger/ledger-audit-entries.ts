import type { QueryResultRow } from 'pg';
import type { Query } from '../connection/query.ts';
import { Prisma } from '../generated/client.ts';
import { inFlightIds } from '../schema/submission-states.ts';
import { faultsMax, type LedgerFault } from './ledger-fault.ts';

/**
 * The part of the audit that reads the ledger entries, in the order of (tenant, sequence). A
 * tenant's entries become visible in that order, because each is written while its account is
 * locked. A page may therefore end in the middle of a tenant. The next page continues from the sums
 * so far.
 */

/** A page begins after this entry. `sums` cover the entries of its tenant up to it. */
export interface LedgerPlace {
  readonly tenantId: string;
  readonly sequence: bigint;
  readonly sums: Sums;
}

interface Sums {
  readonly balance: bigint;
  readonly held: bigint;
  readonly rebate: bigint;
}

export const ledgerStart: LedgerPlace = {
  tenantId: '00000000-0000-0000-0000-000000000000',
  sequence: 0n,
  sums: { balance: 0n, held: 0n, rebate: 0n },
};

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const lastSequence = 2n ** 63n - 1n;

interface PageEnd {
  readonly tenantId: string;
  readonly sequence: bigint;
}

export interface EntryPage {
  /** Accounts that were checked: those whose last entry is in this page or that have no entries. */
  readonly tenants: number;
  readonly faults: LedgerFault[];
  /** Null at the end of the ledger. */
  readonly next: LedgerPlace | null;
}

/** Audits up to `limit` entries after `from`, and each account whose last entry is on this page. */
export async function auditEntryPage(
  query: Query,
  from: LedgerPlace,
  limit: number,
): Promise<EntryPage> {
  const [end] = await query<PageEnd>(
    `SELECT tenant_id AS "tenantId", sequence FROM ledger_entries
     WHERE (tenant_id, sequence) > ($1::uuid, $2)
     ORDER BY tenant_id, sequence OFFSET $3 LIMIT 1`,
    [from.tenantId, from.sequence, limit - 1],
  );
  const to = end ?? { tenantId: lastId, sequence: lastSequence };
  const entries = entriesOf(from, to);
  // The tenant of the page's last entry may have more entries, so a later page checks its account.
  const accounts = Prisma.sql`a.tenant_id >= ${from.tenantId}::uuid AND ${
    end === undefined ? Prisma.sql`true` : Prisma.sql`a.tenant_id < ${end.tenantId}::uuid`
  }`;
  const [counted] = await send<{ tenants: number }>(
    query,
    Prisma.sql`SELECT count(*)::int AS tenants FROM credit_accounts a WHERE ${accounts}`,
  );
  const faults = [
    ...(await auditAccounts(query, accounts, entries)),
    ...(await auditHolds(query, accounts)),
    ...(await auditFigures(query, entries)),
  ];
  const next = end === undefined ? null : { ...end, sums: await sumsOf(query, end, entries) };
  return { tenants: counted?.tenants ?? 0, faults, next };
}

function send<Row extends QueryResultRow>(
  query: Query,
  { text, values }: Prisma.Sql,
): Promise<Row[]> {
  return query<Row>(text, values);
}

/** SQL: the amount that an entry adds to the tenant's account of this name. */
const change = (account: string) =>
  `(amount_micros * ((credit_account = '${account}')::int - (debit_account = '${account}')::int))`;

/**
 * The page's entries, each with the amounts that it adds, and one row that carries the sums of the
 * page before.
 */
function entriesOf({ tenantId, sequence, sums }: LedgerPlace, to: PageEnd): Prisma.Sql {
  return Prisma.sql`(
    SELECT id, tenant_id, sequence, type, debit_account, credit_account, amount_micros,
      balance_after_micros, held_after_micros, false AS is_carry,
      ${Prisma.raw(`${change('tenant_available')} + ${change('tenant_held')}`)} AS balance,
      ${Prisma.raw(change('tenant_held'))} AS held, ${Prisma.raw(change('rebate'))} AS rebate
    FROM ledger_entries
    WHERE (tenant_id, sequence) > (${tenantId}::uuid, ${sequence})
      AND (tenant_id, sequence) <= (${to.tenantId}::uuid, ${to.sequence})
    UNION ALL
    SELECT NULL, ${tenantId}::uuid, ${sequence}, NULL, NULL, NULL, NULL, NULL, NULL, true,
      ${sums.balance}::bigint, ${sums.held}::bigint, ${sums.rebate}::bigint)`;
}

async function sumsOf(query: Query, { tenantId }: PageEnd, entries: Prisma.Sql): Promise<Sums> {
  const [row] = await send<Sums>(
    query,
    Prisma.sql`
      SELECT sum(balance)::bigint AS balance, sum(held)::bigint AS held, sum(rebate)::bigint AS rebate
      FROM ${entries} e WHERE tenant_id = ${tenantId}::uuid`,
  );
  return row ?? ledgerStart.sums;
}

function auditAccounts(
  query: Query,
  accounts: Prisma.Sql,
  entries: Prisma.Sql,
): Promise<LedgerFault[]> {
  return send<LedgerFault>(
    query,
    Prisma.sql`
      SELECT 'account_differs_from_entries' AS kind, a.tenant_id AS subject,
        format('balance %s, held %s, rebate %s; by its entries %s, %s, %s', a.balance_micros, a.held_micros,
          a.rebate_accrued_micros, e.balance, e.held, e.rebate) AS detail
      FROM credit_accounts a LEFT JOIN (
        SELECT tenant_id, sum(balance) AS balance, sum(held) AS held, sum(rebate) AS rebate
        FROM ${entries} p GROUP BY tenant_id) e USING (tenant_id)
      WHERE ${accounts} AND (a.balance_micros <> COALESCE(e.balance, 0)
        OR a.held_micros <> COALESCE(e.held, 0) OR a.rebate_accrued_micros <> COALESCE(e.rebate, 0))
      ORDER BY a.tenant_id LIMIT ${faultsMax}`,
  );
}

function auditHolds(query: Query, accounts: Prisma.Sql): Promise<LedgerFault[]> {
  return send<LedgerFault>(
    query,
    Prisma.sql`
      SELECT CASE WHEN a.held_micros <> COALESCE(s.held, 0) THEN 'held_differs_from_holds'
        ELSE 'in_flight_differs_from_holds' END AS kind, a.tenant_id AS subject,
        format('held %s by %s; holds in flight %s by %s', a.held_micros, a.in_flight, COALESCE(s.held, 0),
          COALESCE(s.count, 0)) AS detail
      FROM credit_accounts a LEFT JOIN (
        SELECT tenant_id, sum(quote_max_micros) AS held, count(*) AS count FROM submissions a
        WHERE id = ANY(${Prisma.raw(inFlightIds)}) AND finished_at IS NULL AND ${accounts}
        GROUP BY tenant_id) s USING (tenant_id)
      WHERE ${accounts}
        AND (a.held_micros <> COALESCE(s.held, 0) OR a.in_flight <> COALESCE(s.count, 0))
      ORDER BY a.tenant_id LIMIT ${faultsMax}`,
  );
}

/** Checks each entry alone, and its balances against the running sum of the tenant's entries. */
function auditFigures(query: Query, entries: Prisma.Sql): Promise<LedgerFault[]> {
  return send<LedgerFault>(
    query,
    Prisma.sql`
      SELECT CASE WHEN NOT allowed THEN 'movement_not_allowed' ELSE 'figures_differ_from_entries' END AS kind,
        id AS subject, format('%s of %s: balance after %s, held after %s; by the entries %s, %s', type,
          amount_micros, balance_after_micros, held_after_micros, balance, held) AS detail
      FROM (
        SELECT id, type, amount_micros, balance_after_micros, held_after_micros, sequence, is_carry,
          amount_micros > 0 AND (type, debit_account, credit_account) IN (
            ('grant', 'issuance', 'tenant_available'), ('hold', 'tenant_available', 'tenant_held'),
            ('charge', 'tenant_held', 'revenue'), ('release', 'tenant_held', 'tenant_available'),
            ('rebate_accrual', 'revenue', 'rebate'), ('rebate', 'rebate', 'tenant_available'),
            ('reversal', 'tenant_available', 'issuance')) AS allowed,
          sum(balance) OVER by_tenant AS balance, sum(held) OVER by_tenant AS held
        FROM ${entries} p
        WINDOW by_tenant AS (PARTITION BY tenant_id ORDER BY sequence)) e
      WHERE NOT is_carry AND (NOT allowed OR balance_after_micros <> balance OR held_after_micros <> held)
      ORDER BY sequence LIMIT ${faultsMax}`,
  );
}
