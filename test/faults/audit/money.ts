import { formatCredits } from '@svc/domain';
import type { Pool } from 'pg';
import { auditMoney } from '../../support/audit.ts';
import { type Json, microsOf, textOf } from '../load/json.ts';
import type { Grant } from '../load/seen.ts';
import { type FinalRecord, inWords, type TenantBooks } from './books.ts';
import type { Findings } from './findings.ts';

/**
 * Checks a tenant's balance, account statement and charges. Calculates the expected charges without
 * the product's code.
 */
export function auditBooks(findings: Findings, books: TenantBooks, grants: readonly Grant[]): void {
  auditBalance(findings, books, grants);
  auditStatement(findings, books);
  const lines = Map.groupBy(books.statement, (line) => textOf(line['submissionId']) ?? '');
  for (const record of books.records) {
    auditCharge(findings, record);
    auditLines(findings, record, lines.get(record.id) ?? []);
  }
}

function auditBalance(
  findings: Findings,
  { tenant, balance, records }: TenantBooks,
  grants: readonly Grant[],
): void {
  const own = grants.filter((grant) => grant.tenant.tenantId === tenant.tenantId);
  findings.expect(
    'no credits are held when nothing is in flight',
    microsOf(balance['held']) === 0n,
    tenant.name,
    () => `${String(balance['held'])} credits are held`,
  );
  const granted = own.reduce((sum, { credits }) => sum + BigInt(credits) * 1_000_000n, 0n);
  const unanswered = own.filter(({ isAnswered }) => !isAnswered).length;
  const charged = records.reduce((sum, { chargedMicros }) => sum + chargedMicros, 0n);
  findings.expect(
    'each balance is the grants minus the charges',
    unanswered === 0 && microsOf(balance['balance']) === granted - charged,
    tenant.name,
    () =>
      `its balance reads ${String(balance['balance'])} credits, its grants minus its charges are ${formatCredits(granted - charged)} credits, and the number of its grants without an answer 200 or 201 is ${unanswered}`,
  );
}

const signs: Readonly<Record<string, bigint>> = {
  grant: 1n,
  rebate: 1n,
  charge: -1n,
  reversal: -1n,
};

/**
 * Checks that the lines of an account statement add up, from the oldest line on. Holds and releases
 * count as 0, because they do not change the balance.
 */
function auditStatement(findings: Findings, { tenant, balance, statement }: TenantBooks): void {
  let expected = 0n;
  for (const line of statement.toReversed()) {
    expected += (signs[textOf(line['type']) ?? ''] ?? 0n) * microsOf(line['amount']);
    const [after, held, available] = ['balanceAfter', 'heldAfter', 'availableAfter'].map((name) =>
      microsOf(line[name]),
    );
    findings.expect(
      'in each line of an account statement, balanceAfter is the sum of the lines up to it, heldAfter is at least 0, and availableAfter is balanceAfter minus heldAfter',
      after === expected && held !== undefined && held >= 0n && after - held === available,
      `${tenant.name}, ${String(line['id'])}`,
      () =>
        `the line is ${JSON.stringify(line)}; the lines up to it add up to ${formatCredits(expected)} credits`,
    );
  }
  findings.expect(
    'the lines of an account statement add up to the balance',
    expected === microsOf(balance['balance']),
    tenant.name,
    () =>
      `its lines add up to ${formatCredits(expected)} credits, but its balance reads ${String(balance['balance'])} credits`,
  );
}

function auditLines(findings: Findings, record: FinalRecord, lines: readonly Json[]): void {
  const of = (type: string) => lines.filter((line) => line['type'] === type);
  const sum = (type: string) =>
    of(type).reduce((total, line) => total + microsOf(line['amount']), 0n);
  const isOnce = of('hold').length === 1 && of('charge').length <= 1 && of('release').length <= 1;
  findings.expect(
    'a submission has one hold; its charge and its release, at most one each, add up to the hold',
    isOnce &&
      sum('hold') === record.maxMicros &&
      sum('charge') === record.chargedMicros &&
      sum('charge') + sum('release') === sum('hold') &&
      record.chargedMicros + record.refundedMicros === record.maxMicros,
    record.id,
    () => `${inWords(record)} has the statement lines ${JSON.stringify(lines)}`,
  );
}

const trillion = 1_000_000_000_000n;
const weights: Readonly<Record<string, bigint>> = {
  nodeSeconds: 500_000n,
  cpuSeconds: 200_000n,
  memoryGbSeconds: 50_000n,
  bandwidthMb: 100_000n,
  actions: 500_000n,
};
const tierTenths: Readonly<Record<string, bigint>> = { standard: 10n, priority: 15n, instant: 25n };

/**
 * The charge for a completed submission by the default rate card, in micros: `clamp(base + Σ weight
 * × usage, min, max) × tier × surge`, rounded half up.
 */
function chargeOf({ usage, tier, surgeMicros }: FinalRecord): bigint {
  let sum = 20n * trillion;
  for (const [unit, weight] of Object.entries(weights)) {
    if (usage[unit] !== undefined) sum += weight * microsOf(usage[unit]);
  }
  const clamped =
    sum < 10n * trillion ? 10n * trillion : sum > 200n * trillion ? 200n * trillion : sum;
  const scaled = clamped * (tierTenths[tier] ?? 0n) * surgeMicros;
  const perMicro = 1_000_000n * 10n * 1_000_000n;
  return (2n * scaled + perMicro) / (2n * perMicro);
}

function auditCharge(findings: Findings, record: FinalRecord): void {
  const { id, status, chargedMicros, maxMicros, startedAt } = record;
  const limit = (what: string, holds: boolean) =>
    findings.expect(
      'each submission costs what its end and the rate card say',
      holds,
      id,
      () =>
        `${status}, charged ${chargedMicros} of ${maxMicros} micros: ${what}; ${inWords(record)}`,
    );
  if (status === 'submitted')
    limit(`the price must be ${chargeOf(record)}`, chargedMicros === chargeOf(record));
  else if (status === 'failed') limit('a failure must be free', chargedMicros === 0n);
  else limit('a cancel before begin must be free', startedAt !== null || chargedMicros === 0n);
  findings.expect(
    'no submission is charged more than its hold',
    chargedMicros >= 0n && chargedMicros <= maxMicros,
    id,
    () => `${chargedMicros} micros were charged, and ${maxMicros} were held`,
  );
}

export async function auditLedgerTables(findings: Findings, pool: Pool): Promise<void> {
  const violations = await auditMoney(async (sql, values) => (await pool.query(sql, values)).rows);
  const { rows } = await pool.query<{ count: string }>('SELECT count(*) FROM ledger_entries');
  findings.addAll(
    'the ledger fits the accounts, the submissions and the events',
    Number(rows[0]?.count ?? 0),
    violations,
  );
}
