import { describe, expect, test } from 'vitest';
import { decideEnding, type EndingFacts } from './ending.ts';
import { dispatchGraceMs } from './limits.ts';
import { cancelCharge, charge, surgeNoneMicros } from './pricing.ts';
import { defaultRateCardJson, findRate, parseRateCard } from './rate-card.ts';
import { type SubmissionState, submissionStates } from './submission-state.ts';

const rate = findRate(parseRateCard(1, defaultRateCardJson), 'ats.application', 'standard');
if (rate === undefined) throw new Error('the default card has no standard rate');

function facts(state: SubmissionState, own: Partial<EndingFacts> = {}): EndingFacts {
  return {
    state,
    rate,
    surgeMicros: surgeNoneMicros,
    outcomeKind: null,
    usage: {},
    runningMs: null,
    dispatchOverdueMs: -1n,
    ...own,
  };
}

const others = (...states: SubmissionState[]) =>
  submissionStates.filter((state) => !states.includes(state));

describe('a rejection', () => {
  const reject = { kind: 'reject', onlyOverdue: false } as const;
  const rejectOverdue = { kind: 'reject', onlyOverdue: true } as const;
  const overdue = (ms: number, state: SubmissionState = 'pending') =>
    decideEnding(facts(state, { dispatchOverdueMs: BigInt(ms) }), rejectOverdue)?.to;

  test('ends only pending submissions, and charges nothing', () => {
    const rejected = { to: 'rejected', chargeMicros: 0n };
    expect(decideEnding(facts('pending'), reject)).toEqual(rejected);
    for (const state of others('pending')) expect(decideEnding(facts(state), reject)).toBeNull();
  });

  test('of overdue submissions waits for the whole grace after the deadline, in every state', () => {
    expect(overdue(dispatchGraceMs - 1)).toBeUndefined();
    expect(overdue(dispatchGraceMs)).toBe('rejected');
    expect(overdue(dispatchGraceMs, 'dispatched')).toBeUndefined();
  });
});

describe('a cancel', () => {
  const byTenant = { kind: 'cancel', by: 'tenant' } as const;
  const byOperator = { kind: 'cancel', by: 'operator' } as const;
  const runningMs = 120_000n;
  const cost = cancelCharge(rate, surgeNoneMicros, runningMs);

  test('charges the tenant for the time of the run, and nothing before begin', () => {
    expect(cost).toBeGreaterThan(0n);
    expect(decideEnding(facts('running', { runningMs }), byTenant)).toEqual({
      to: 'cancelled',
      chargeMicros: cost,
      by: 'tenant',
    });
    for (const state of ['pending', 'dispatched'] as const)
      expect(decideEnding(facts(state), byTenant)?.chargeMicros).toBe(0n);
  });

  test('by an operator costs the tenant nothing, however long it ran', () => {
    expect(decideEnding(facts('running', { runningMs }), byOperator)).toEqual({
      to: 'cancelled',
      chargeMicros: 0n,
      by: 'operator',
    });
  });

  test('settles an outcome that is already stored', () => {
    const settling = facts('settling', { outcomeKind: 'failed', runningMs });
    expect(decideEnding(settling, byTenant)).toEqual({ to: 'failed', chargeMicros: 0n });
  });

  test('by an operator ends completed work without a price, and charges nothing', () => {
    const settling = facts('settling', { outcomeKind: 'completed', rate: undefined, runningMs });
    expect(decideEnding(settling, byOperator)).toEqual({ to: 'submitted', chargeMicros: 0n });
    expect(() => decideEnding(settling, byTenant)).toThrow('the rate card of a quote');
    const priced = facts('settling', { outcomeKind: 'completed', runningMs });
    expect(decideEnding(priced, byOperator)?.chargeMicros).toBeGreaterThan(0n);
  });

  test('does nothing to an ended submission', () => {
    for (const state of others('pending', 'dispatched', 'running', 'settling'))
      expect(decideEnding(facts(state), byTenant)).toBeNull();
  });
});

describe('a settlement', () => {
  const settle = { kind: 'settle' } as const;

  test('charges completed work, and nothing for work that failed', () => {
    expect(decideEnding(facts('settling', { outcomeKind: 'completed' }), settle)).toEqual({
      to: 'submitted',
      chargeMicros: charge(rate, surgeNoneMicros, {}),
    });
    expect(decideEnding(facts('settling', { outcomeKind: 'failed' }), settle)).toEqual({
      to: 'failed',
      chargeMicros: 0n,
    });
  });

  test('does nothing without a stored outcome', () => {
    for (const outcomeKind of ['completed', 'failed', null] as const)
      for (const state of others('settling'))
        expect(decideEnding(facts(state, { outcomeKind }), settle)).toBeNull();
    expect(() => decideEnding(facts('settling'), settle)).toThrow('has an outcome');
  });

  test('throws if the pinned card has no such rate', () => {
    const unpinned = facts('settling', { outcomeKind: 'completed', rate: undefined });
    expect(() => decideEnding(unpinned, settle)).toThrow('the rate card of a quote');
  });
});
