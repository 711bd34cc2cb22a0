import { explainReads } from './balance-reads.ts';
import {
  type BalanceRecord,
  type GrantRecord,
  type History,
  type LineRecord,
  type RecordOf,
  recordsOf,
  type StatementRecord,
  type Verdict,
} from './history.ts';
import { lineTimes, type LineTimes } from './line-times.ts';

// The ledger numbers the rows of an account in the order in which they are written. The checker
// uses this order, and does not search for other possible orders.

/**
 * Checks that the ledger's rows agree with each other, with real time and with the figures that
 * observers saw (CONTRACT 4). Costs O(n log n) for n records.
 */
export function checkAccounts(history: History): Verdict[] {
  const lines = Map.groupBy(recordsOf(history, 'line'), ({ tenant }) => tenant);
  const grants = Map.groupBy(recordsOf(history, 'grant'), ({ tenant }) => tenant);
  const reads = Map.groupBy(recordsOf(history, 'balance'), ({ tenant }) => tenant);
  const timesOf = lineTimes(history);
  const order: string[] = [];
  const explained: string[] = [];
  const tenants = new Set([...lines.keys(), ...grants.keys(), ...reads.keys()]);
  for (const tenant of tenants) {
    const own = lines.get(tenant) ?? [];
    const times = own.map(timesOf);
    order.push(...brokenChain(own), ...repeated(own), ...outOfTime(own, times));
    const readsOwn: readonly BalanceRecord[] = reads.get(tenant) ?? [];
    explained.push(
      ...wrongGrants(own, grants.get(tenant) ?? []),
      ...explainReads(own, times, readsOwn).map((what) => `${tenant}: ${what}`),
    );
  }
  explained.push(...wrongAnswers(history), ...wrongStatements(history));
  const answers = history.filter(({ kind }) => shows.has(kind)).length;
  const linesCount = recordsOf(history, 'line').length;
  return [
    {
      guarantee:
        'the movements of an account form one chain without repeats, in an order that agrees with real time',
      count: linesCount,
      violations: order,
    },
    {
      guarantee: 'each amount and balance that was shown agrees with the ledger',
      count: answers,
      violations: explained,
    },
  ];
}

const shows: ReadonlySet<string> = new Set([
  'create',
  'cancel',
  'grant',
  'rebate',
  'balance',
  'statement',
  'status',
]);

const effects: Readonly<Record<string, readonly [balance: bigint, held: bigint]>> = {
  grant: [1n, 0n],
  rebate: [1n, 0n],
  reversal: [-1n, 0n],
  hold: [0n, 1n],
  charge: [-1n, -1n],
  release: [0n, -1n],
  rebate_accrual: [0n, 0n],
};

function brokenChain(lines: readonly LineRecord[]): string[] {
  const found: string[] = [];
  let balance = 0n;
  let held = 0n;
  for (const line of lines) {
    const [ofBalance, ofHeld] = effects[line.type] ?? [0n, 0n];
    balance += ofBalance * line.amountMicros;
    held += ofHeld * line.amountMicros;
    const isRight = line.balanceAfterMicros === balance && line.heldAfterMicros === held;
    if (!isRight || held < 0n || balance < held)
      found.push(
        `${inWords(line)}; computed from the row before: ${balance} micros, ${held} of them held`,
      );
    balance = line.balanceAfterMicros;
    held = line.heldAfterMicros;
  }
  return found;
}

/**
 * Finds rows that repeat an earlier row. A submission has at most one hold, one charge and one
 * release. A reference has at most one grant.
 */
function repeated(lines: readonly LineRecord[]): string[] {
  const known = new Map<string, LineRecord>();
  return lines.flatMap((line) => {
    const subject = line.submissionId ?? line.reference;
    if (subject === null) return [];
    const name = `${line.type} ${subject}`;
    const first = known.get(name);
    known.set(name, line);
    return first === undefined ? [] : [`${inWords(line)} repeats ${inWords(first)}`];
  });
}

/** A row is out of time if it was certainly written before a row that precedes it in the ledger. */
function outOfTime(lines: readonly LineRecord[], times: readonly LineTimes[]): string[] {
  const found: string[] = [];
  let earliest = 0;
  let cause: LineRecord | undefined;
  // The rows that a violation has named as its cause. Each cause is reported only once, although
  // it can contradict many later rows.
  const reported = new Set<LineRecord>();
  for (const [index, line] of lines.entries()) {
    const { earliestMs = 0, latestMs = Number.POSITIVE_INFINITY } = times[index] ?? {};
    if (earliestMs > earliest) {
      earliest = earliestMs;
      cause = line;
    }
    if (latestMs >= earliest || cause === undefined || reported.has(cause)) continue;
    reported.add(cause);
    found.push(
      `${inWords(line)} was written at ${latestMs.toFixed(0)} ms or before, but in the ledger it comes after ${inWords(cause)}, which was written after ${earliest.toFixed(0)} ms`,
    );
  }
  return found;
}

function wrongGrants(lines: readonly LineRecord[], grants: readonly GrantRecord[]): string[] {
  const rows = new Map(
    lines.flatMap((line) => (line.reference === null ? [] : [[line.reference, line]])),
  );
  return grants.flatMap(({ outcome, reference, amountMicros, tenant }) => {
    if (outcome.kind === 'unknown') return [];
    const row = rows.get(reference);
    const isRight =
      row !== undefined &&
      row.amountMicros === amountMicros &&
      availableOf(row) === outcome.availableAfterMicros;
    const shown = `the answer to the grant ${reference} of ${amountMicros} micros to ${tenant} shows ${outcome.availableAfterMicros} micros available`;
    return isRight ? [] : [`${shown}; the ledger row of the grant is ${inWords(row)}`];
  });
}

function wrongAnswers(history: History): string[] {
  const rows = new Map<string, LineRecord>();
  const paid = new Map<string, number>();
  for (const line of recordsOf(history, 'line')) {
    if (line.submissionId !== null) rows.set(`${line.type} ${line.submissionId}`, line);
    if (line.type === 'rebate') count(paid, `${line.tenant} ${line.amountMicros}`, 1);
  }
  return history.flatMap((record) => {
    if (record.kind === 'create') return wrongCreation(record, rows) ?? [];
    if (record.kind === 'status') return wrongCharge(record, record, rows) ?? [];
    if (record.kind === 'cancel') return wrongCancel(record, rows) ?? [];
    if (record.kind !== 'rebate' || record.paidMicros === null) return [];
    const left = count(paid, `${record.tenant} ${record.paidMicros}`, -1);
    return left >= 0
      ? []
      : [
          `${record.tenant} was paid a rebate of ${record.paidMicros} micros, but the ledger has no row of this rebate`,
        ];
  });
}

type Rows = ReadonlyMap<string, LineRecord>;

function wrongCreation({ tenant, outcome }: RecordOf<'create'>, rows: Rows): string | undefined {
  if (outcome.kind !== 'created') return undefined;
  const { submissionId, availableAfterMicros, heldMicros } = outcome;
  const row = rows.get(`hold ${submissionId}`);
  const isRight =
    row?.tenant === tenant &&
    row.amountMicros === heldMicros &&
    availableOf(row) === availableAfterMicros;
  if (isRight) return undefined;
  return `the answer to the creation of ${submissionId} shows ${availableAfterMicros} micros available and ${heldMicros} held, but the ledger row of its hold is ${inWords(row)}`;
}

function wrongCancel(
  { submissionId, outcome }: RecordOf<'cancel'>,
  rows: Rows,
): string | undefined {
  if (outcome.kind === 'ended')
    return wrongCharge({ submissionId, source: 'cancel' }, outcome, rows);
  if (outcome.kind !== 'cancelled') return undefined;
  const { chargedMicros, refundedMicros } = outcome;
  const charge = rows.get(`charge ${submissionId}`)?.amountMicros ?? 0n;
  const release = rows.get(`release ${submissionId}`)?.amountMicros ?? 0n;
  if (charge === chargedMicros && release === refundedMicros) return undefined;
  return `the answer to the cancel of ${submissionId} shows ${chargedMicros} micros charged, ${refundedMicros} refunded; its ledger rows show ${charge} charged, ${release} released`;
}

function wrongCharge(
  { submissionId, source }: Pick<RecordOf<'status'>, 'submissionId' | 'source'>,
  { status, chargedMicros }: Pick<RecordOf<'status'>, 'status' | 'chargedMicros'>,
  rows: Rows,
): string | undefined {
  const charge = rows.get(`charge ${submissionId}`)?.amountMicros ?? 0n;
  if (chargedMicros === null || chargedMicros === charge) return undefined;
  return `the observer \`${source}\` saw ${chargedMicros} micros charged and the status ${status} for ${submissionId}; the ledger rows of the submission show ${charge} charged`;
}

function count(counts: Map<string, number>, name: string, by: number): number {
  const sum = (counts.get(name) ?? 0) + by;
  counts.set(name, sum);
  return sum;
}

const compared = [
  'type',
  'tenant',
  'amountMicros',
  'balanceAfterMicros',
  'heldAfterMicros',
  'submissionId',
  'reference',
] as const;

function wrongStatements(history: History): string[] {
  const rows = new Map(recordsOf(history, 'line').map((line) => [line.id, line]));
  return recordsOf(history, 'statement').flatMap((shown: StatementRecord) => {
    const row = rows.get(shown.id);
    const isRight = row !== undefined && compared.every((name) => row[name] === shown[name]);
    return isRight
      ? []
      : [
          `a statement shows ${inWords(shown)}, but the ledger row with the same id is ${inWords(row)}`,
        ];
  });
}

function availableOf({ balanceAfterMicros, heldAfterMicros }: LineRecord): bigint {
  return balanceAfterMicros - heldAfterMicros;
}

function inWords(line: LineRecord | StatementRecord | undefined): string {
  if (line === undefined) return 'not there';
  const subject = line.submissionId ?? line.reference ?? '';
  return `${line.tenant}: ${line.type} of ${line.amountMicros} ${subject} (balance ${line.balanceAfterMicros} and held ${line.heldAfterMicros} after it)`;
}
