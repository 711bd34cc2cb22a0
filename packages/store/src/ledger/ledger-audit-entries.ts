import type { QueryResultRow } from 'pg';
import type { Query } from '../connection/query.ts';
import { Prisma } from '../generated/client.ts';
import { faultsMax, type LedgerFault } from './ledger-fault.ts';

/**
 * Audits ledger entries in pages, by tenant and sequence. A new entry is written while its account
 * is locked, so it comes after all entries of the tenant that were read.
 */

export interface LedgerPlace {
  readonly tenantId: string;
  readonly sequence: bigint;
  /** The sums of the tenant's entries up to and including `sequence`. */
  readonly sums: Sums;
}

interface Sums {
  readonly balance: bigint;
  readonly held: bigint;
  readonly rebate: bigint;
}

const firstSequence = -(2n ** 63n);
const lastSequence = 2n ** 63n - 1n;
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export function startOf(tenantId: string): LedgerPlace {
  return { tenantId, sequence: firstSequence, sums: { balance: 0n, held: 0n, rebate: 0n } };
}

export const ledgerStart = startOf('00000000-0000-0000-0000-000000000000');

interface PageEnd {
  readonly tenantId: string;
  readonly sequence: bigint;
}

export interface EntryPage {
  /**
   * The number of accounts that were checked, including accounts without entries. The account of
   * `next` is not counted, because a later page checks it.
   */
  readonly tenants: number;
  readonly entries: number;
  readonly faults: LedgerFault[];
  /** The place after which the next page begins. Null if this page is the last one. */
  readonly next: LedgerPlace | null;
}

export interface EntryPageLimits {
  readonly entries: number;
  readonly accounts: number;
}

/**
 * Audits the entries after `from` until one of `limits` is reached. Also checks the accounts from
 * the tenant of `from` (included) to the tenant of `next` (excluded).
 */
export async function auditEntryPage(
  query: Query,
  from: LedgerPlace,
  limits: EntryPageLimits,
): Promise<EntryPage> {
  const [end] = await query<PageEnd>(
    `SELECT tenant_id AS "tenantId", sequence FROM (
       (SELECT tenant_id, sequence FROM ledger_entries WHERE (tenant_id, sequence) > ($1::uuid, $2::bigint)
        ORDER BY tenant_id, sequence OFFSET $3 LIMIT 1)
       UNION ALL
       (SELECT tenant_id, $5::bigint FROM credit_accounts WHERE tenant_id > $1::uuid
        ORDER BY tenant_id OFFSET $4 LIMIT 1)) e
     ORDER BY tenant_id, sequence LIMIT 1`,
    [from.tenantId, from.sequence, limits.entries - 1, limits.accounts - 1, firstSequence],
  );
  const entries = entriesBetween(from, end ?? { tenantId: lastId, sequence: lastSequence });
  // The tenant of `end` may have entries after this page, so a later page checks its account.
  const accounts = Prisma.sql`a.tenant_id >= ${from.tenantId}::uuid AND ${
    end === undefined ? Prisma.sql`true` : Prisma.sql`a.tenant_id < ${end.tenantId}::uuid`
  }`;
  const [counted] = await send<{ tenants: number; entries: number }>(
    query,
    Prisma.sql`SELECT (SELECT count(*)::int FROM credit_accounts a WHERE ${accounts}) AS tenants,
      (SELECT count(*)::int FROM ${entries} e WHERE NOT is_carry) AS entries`,
  );
  const faults = [
    ...(await auditAccounts(query, accounts, entries)),
    ...(await auditFigures(query, entries)),
  ];
  const next = end === undefined ? null : { ...end, sums: await sumsOf(query, end, entries) };
  return { tenants: counted?.tenants ?? 0, entries: counted?.entries ?? 0, faults, next };
}

export interface AuditedAccount {
  readonly place: LedgerPlace;
  readonly entries: number;
  /** False if the tenant may have entries after `place`. Its account is then not checked. */
  readonly isComplete: boolean;
}

/**
 * Audits up to `limit` entries after each of `places`. Checks a tenant's account only if the tenant
 * has fewer than `limit` entries after its place.
 */
export async function auditAfter(
  query: Query,
  /** At most one place per tenant. */
  places: readonly LedgerPlace[],
  limit: number,
): Promise<{ accounts: AuditedAccount[]; submissionIds: string[]; faults: LedgerFault[] }> {
  const entries = entriesAfter(places, limit);
  const rows = await send<PageEnd & Sums & { entries: number }>(
    query,
    Prisma.sql`
      SELECT tenant_id AS "tenantId", max(sequence) AS sequence, count(*)::int - 1 AS entries,
        sum(balance)::bigint AS balance, sum(held)::bigint AS held, sum(rebate)::bigint AS rebate
      FROM ${entries} e GROUP BY tenant_id ORDER BY tenant_id`,
  );
  const accounts = rows.map(({ tenantId, sequence, entries: count, ...sums }) => ({
    place: { tenantId, sequence, sums },
    entries: count,
    isComplete: count < limit,
  }));
  const complete = accounts.filter(({ isComplete }) => isComplete);
  const ids = complete.map(({ place }) => place.tenantId);
  const faults = await auditAccounts(query, Prisma.sql`a.tenant_id = ANY(${ids}::uuid[])`, entries);
  if (accounts.every((account) => account.entries === 0)) {
    return { accounts, submissionIds: [], faults };
  }
  faults.push(...(await auditFigures(query, entries)));
  const submissions = await send<{ id: string }>(
    query,
    Prisma.sql`SELECT DISTINCT submission_id AS id FROM ${entries} e WHERE submission_id IS NOT NULL`,
  );
  return { accounts, submissionIds: submissions.map(({ id }) => id), faults };
}

function send<Row extends QueryResultRow>(
  query: Query,
  { text, values }: Prisma.Sql,
): Promise<Row[]> {
  return query<Row>(text, values);
}

/**
 * SQL for the amount that an entry adds to a ledger account, such as `tenant_held`. The amount is
 * negative for a debit.
 */
const change = (account: string) =>
  `(amount_micros * ((credit_account = '${account}')::int - (debit_account = '${account}')::int))`;

const entryColumns = Prisma.raw(`id, tenant_id, sequence, type, debit_account, credit_account,
  amount_micros, balance_after_micros, held_after_micros, submission_id, false AS is_carry,
  ${change('tenant_available')} + ${change('tenant_held')} AS balance,
  ${change('tenant_held')} AS held, ${change('rebate')} AS rebate`);

/**
 * SQL for one row per place, with the sums of the place. The row stands for the tenant's entries up
 * to and including the place. Those entries are not read.
 */
function carriesOf(places: readonly LedgerPlace[]): Prisma.Sql {
  const sums = places.map((place) => place.sums);
  return Prisma.sql`
    SELECT NULL::uuid, tenant_id, sequence, NULL, NULL, NULL, NULL, NULL, NULL, NULL::uuid, true, balance, held,
      rebate
    FROM unnest(${places.map(({ tenantId }) => tenantId)}::uuid[],
      ${places.map(({ sequence }) => sequence)}::bigint[], ${sums.map(({ balance }) => balance)}::bigint[],
      ${sums.map(({ held }) => held)}::bigint[], ${sums.map(({ rebate }) => rebate)}::bigint[])
      AS c (tenant_id, sequence, balance, held, rebate)`;
}

function entriesBetween(from: LedgerPlace, to: PageEnd): Prisma.Sql {
  return Prisma.sql`(
    SELECT ${entryColumns} FROM ledger_entries
    WHERE (tenant_id, sequence) > (${from.tenantId}::uuid, ${from.sequence}::bigint)
      AND (tenant_id, sequence) <= (${to.tenantId}::uuid, ${to.sequence}::bigint)
    UNION ALL ${carriesOf([from])})`;
}

function entriesAfter(places: readonly LedgerPlace[], limit: number): Prisma.Sql {
  return Prisma.sql`(
    SELECT e.* FROM unnest(${places.map(({ tenantId }) => tenantId)}::uuid[],
      ${places.map(({ sequence }) => sequence)}::bigint[]) AS p (tenant_id, sequence)
    CROSS JOIN LATERAL (
      SELECT ${entryColumns} FROM ledger_entries l
      WHERE l.tenant_id = p.tenant_id AND l.sequence > p.sequence
      ORDER BY l.sequence LIMIT ${limit}) e
    UNION ALL ${carriesOf(places)})`;
}

async function sumsOf(query: Query, { tenantId }: PageEnd, entries: Prisma.Sql): Promise<Sums> {
  const [row] = await send<Sums>(
    query,
    Prisma.sql`
      SELECT COALESCE(sum(balance), 0)::bigint AS balance, COALESCE(sum(held), 0)::bigint AS held,
        COALESCE(sum(rebate), 0)::bigint AS rebate
      FROM ${entries} e WHERE tenant_id = ${tenantId}::uuid`,
  );
  return row ?? ledgerStart.sums;
}

async function auditAccounts(
  query: Query,
  accounts: Prisma.Sql,
  entries: Prisma.Sql,
): Promise<LedgerFault[]> {
  return [...(await auditSums(query, accounts, entries)), ...(await auditHolds(query, accounts))];
}

function auditSums(
  query: Query,
  accounts: Prisma.Sql,
  entries: Prisma.Sql,
): Promise<LedgerFault[]> {
  return send<LedgerFault>(
    query,
    Prisma.sql`
      SELECT 'account_differs_from_entries' AS kind, a.tenant_id AS subject, a.tenant_id AS "tenantId",
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
        ELSE 'in_flight_differs_from_holds' END AS kind, a.tenant_id AS subject, a.tenant_id AS "tenantId",
        format('held %s by %s; holds in flight %s by %s', a.held_micros, a.in_flight, COALESCE(s.held, 0),
          COALESCE(s.count, 0)) AS detail
      FROM credit_accounts a LEFT JOIN (
        SELECT tenant_id, sum(quote_max_micros) AS held, count(*) AS count FROM submissions a
        WHERE id = ANY(ARRAY(SELECT submission_id FROM submissions_in_flight a WHERE ${accounts}))
          AND finished_at IS NULL AND ${accounts}
        GROUP BY tenant_id) s USING (tenant_id)
      WHERE ${accounts}
        AND (a.held_micros <> COALESCE(s.held, 0) OR a.in_flight <> COALESCE(s.count, 0))
      ORDER BY a.tenant_id LIMIT ${faultsMax}`,
  );
}

/**
 * Checks that each entry is an allowed movement, and that its recorded balances are the running
 * sums of the tenant's entries.
 */
function auditFigures(query: Query, entries: Prisma.Sql): Promise<LedgerFault[]> {
  return send<LedgerFault>(
    query,
    Prisma.sql`
      SELECT CASE WHEN NOT allowed THEN 'movement_not_allowed' ELSE 'figures_differ_from_entries' END AS kind,
        id AS subject, tenant_id AS "tenantId", format('%s of %s: balance after %s, held after %s; by the entries %s, %s', type,
          amount_micros, balance_after_micros, held_after_micros, balance, held) AS detail
      FROM (
        SELECT id, tenant_id, type, amount_micros, balance_after_micros, held_after_micros, sequence, is_carry,
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
