import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AccountFigures,
  crossesLowBalance,
  move,
  type Movement,
  planEnding,
  planGrant,
  planHold,
} from './ledger.ts';

const empty: AccountFigures = { balanceMicros: 0n, heldMicros: 0n, rebateAccruedMicros: 0n };
const funded: AccountFigures = { ...empty, balanceMicros: 1000n };

function held(figures: AccountFigures, amountMicros: bigint): AccountFigures {
  const plan = planHold(figures, amountMicros);
  if (plan.kind !== 'planned') throw new Error('not held');
  return plan.after;
}

function summary(movements: readonly Movement[]): string[] {
  return movements.map((entry) => `${entry.type} ${entry.amountMicros}`);
}

describe('a hold', () => {
  test('moves held and leaves the balance', () => {
    expect(planHold(funded, 400n)).toEqual({
      kind: 'planned',
      after: { ...funded, heldMicros: 400n },
      movements: [
        {
          type: 'hold',
          debit: 'tenant_available',
          credit: 'tenant_held',
          amountMicros: 400n,
          after: { ...funded, heldMicros: 400n },
        },
      ],
    });
  });

  test('of all available credits is granted; with one micro-credit more it is refused', () => {
    expect(planHold({ ...funded, heldMicros: 400n }, 600n).kind).toBe('planned');
    expect(planHold({ ...funded, heldMicros: 400n }, 601n)).toEqual({
      kind: 'insufficient_credits',
      requiredMicros: 601n,
    });
  });

  test('of zero makes no entry', () => {
    expect(planHold(empty, 0n)).toEqual({ kind: 'planned', movements: [], after: empty });
  });
});

describe('an ending', () => {
  test('charges, releases the rest and accrues the rebate', () => {
    const figures = held(funded, 400n);
    const plan = planEnding(figures, {
      heldMicros: 400n,
      chargeMicros: 150n,
      rebateMillionths: 10_000n,
    });
    expect(summary(plan.movements)).toEqual(['charge 150', 'release 250', 'rebate_accrual 2']);
    expect(plan.after).toEqual({ balanceMicros: 850n, heldMicros: 0n, rebateAccruedMicros: 2n });
  });

  test('without a charge releases the whole hold and nothing else', () => {
    const ending = { heldMicros: 400n, chargeMicros: 0n, rebateMillionths: 10_000n };
    const plan = planEnding(held(funded, 400n), ending);
    expect(summary(plan.movements)).toEqual(['release 400']);
    expect(plan.after).toEqual(funded);
  });

  test('that charges the whole hold releases nothing', () => {
    const ending = { heldMicros: 400n, chargeMicros: 400n, rebateMillionths: 0n };
    expect(summary(planEnding(held(funded, 400n), ending).movements)).toEqual(['charge 400']);
  });

  test.each([
    ['a charge is never above its hold', 400n, 401n, 0n],
    ['a charge is never negative', 400n, -1n, 0n],
    ['a hold is never above the held credits of its tenant', 401n, 0n, 0n],
    ['a rebate is never negative', 400n, 1n, -1n],
  ])('%s: else an invariant is broken', (message, heldMicros, chargeMicros, rebateMillionths) => {
    const ending = { heldMicros, chargeMicros, rebateMillionths };
    expect(() => planEnding(held(funded, 400n), ending)).toThrow(message);
  });
});

test('a grant raises the balance, and a payout and a reversal move their amounts', () => {
  const granted = planGrant(empty, 500n);
  expect(summary(granted.movements)).toEqual(['grant 500']);
  expect(granted.after).toEqual({ ...empty, balanceMicros: 500n });
  const accrued = { ...granted.after, rebateAccruedMicros: 20n };
  expect(move(accrued, 'rebate', 20n).after).toEqual({ ...empty, balanceMicros: 520n });
  expect(move(accrued, 'reversal', 500n).after.balanceMicros).toBe(0n);
});

test('an overdraft or a movement of zero breaks an invariant', () => {
  expect(() => move(held(funded, 400n), 'reversal', 601n)).toThrow('never above the balance');
  expect(() => move(funded, 'release', 1n)).toThrow('never negative');
  expect(() => move(funded, 'rebate', 1n)).toThrow('never negative');
  expect(() => move(funded, 'grant', 0n)).toThrow('positive amount');
  expect(() => planGrant(funded, -1n)).toThrow('positive');
});

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('grant', 'hold', 'end'),
    amountMicros: fc.bigInt({ min: 1n, max: 1_000_000n }),
    share: fc.bigInt({ min: 0n, max: 100n }),
  }),
  { maxLength: 40 },
);

function play(life: typeof steps extends fc.Arbitrary<infer Life> ? Life : never) {
  const movements: Movement[] = [];
  const holds: bigint[] = [];
  let figures = empty;
  for (const step of life) {
    if (step.kind === 'grant') {
      const plan = planGrant(figures, step.amountMicros);
      movements.push(...plan.movements);
      figures = plan.after;
    } else if (step.kind === 'hold') {
      const plan = planHold(figures, step.amountMicros);
      if (plan.kind === 'insufficient_credits') continue;
      movements.push(...plan.movements);
      holds.push(step.amountMicros);
      figures = plan.after;
    } else {
      const heldMicros = holds.shift();
      if (heldMicros === undefined) continue;
      const chargeMicros = (heldMicros * step.share) / 100n;
      const plan = planEnding(figures, { heldMicros, chargeMicros, rebateMillionths: 50_000n });
      movements.push(...plan.movements);
      figures = plan.after;
    }
  }
  return { movements, holds, figures };
}

function sumOf(movements: readonly Movement[], account: string): bigint {
  return movements.reduce((sum, entry) => {
    const credited = entry.credit === account ? entry.amountMicros : 0n;
    const debited = entry.debit === account ? entry.amountMicros : 0n;
    return sum + credited - debited;
  }, 0n);
}

test('after any steps the balances are the sum of the entries, and all accounts sum to zero', () => {
  fc.assert(
    fc.property(steps, (life) => {
      const { movements, holds, figures } = play(life);
      const available = sumOf(movements, 'tenant_available');
      const heldSum = sumOf(movements, 'tenant_held');
      expect(figures.balanceMicros).toBe(available + heldSum);
      expect(figures.heldMicros).toBe(heldSum);
      expect(heldSum).toBe(holds.reduce((sum, hold) => sum + hold, 0n));
      expect(figures.rebateAccruedMicros).toBe(sumOf(movements, 'rebate'));
      const ours = ['revenue', 'issuance', 'rebate'];
      const theirs = ours.reduce((sum, account) => sum + sumOf(movements, account), 0n);
      expect(available + heldSum + theirs).toBe(0n);
      expect(movements.at(-1)?.after ?? empty).toEqual(figures);
    }),
  );
});

test.each([
  [1000n, 999n, true],
  [1000n, 1000n, false],
  [999n, 998n, false],
  [999n, 1000n, false],
  [2000n, 0n, true],
])('from %d to %d against a threshold of 1000: low balance %s', (before, after, fires) => {
  expect(crossesLowBalance(before, after, 1000n)).toBe(fires);
});
