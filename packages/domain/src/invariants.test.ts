import { expect, test } from 'vitest';
import { decimalOf } from './decimal.ts';
import { type AccountFigures, planEnding, planGrant, planHold } from './ledger.ts';
import { cancelCharge, charge, surgeNoneMicros } from './pricing.ts';
import { defaultRateCardJson, findRate, parseRateCard } from './rate-card.ts';
import { nextAttemptDelayMs } from './retry-schedule.ts';

const figures: AccountFigures = {
  balanceMicros: 1_000n,
  heldMicros: 400n,
  rebateAccruedMicros: 0n,
};

test('no hold or grant moves money in the wrong direction', () => {
  expect(() => planHold(figures, -1n)).toThrow('never negative');
  expect(() => planGrant(figures, 0n)).toThrow('positive');
  expect(() => planGrant(figures, -1n)).toThrow('positive');
  expect(planGrant(figures, 1n).after.balanceMicros).toBe(1_001n);
});

test('no ending charges or releases more than its hold, or has a negative rebate', () => {
  const ending = { heldMicros: 400n, chargeMicros: 400n, rebateMillionths: 0n };
  expect(planEnding(figures, ending).after).toMatchObject({ balanceMicros: 600n, heldMicros: 0n });
  expect(() => planEnding(figures, { ...ending, chargeMicros: 401n })).toThrow('above its hold');
  expect(() => planEnding(figures, { ...ending, heldMicros: 401n })).toThrow(
    'above the held credits',
  );
  expect(() => planEnding(figures, { ...ending, rebateMillionths: -1n })).toThrow('never negative');
});

test('no usage and no time is negative', () => {
  const rate = findRate(parseRateCard(1, defaultRateCardJson), 'ats.application', 'standard');
  if (rate === undefined) throw new Error('the default card has no standard rate');
  const usage = { nodeSeconds: decimalOf(-1n, 0) };
  expect(() => charge(rate, surgeNoneMicros, usage)).toThrow('never negative');
  expect(() => cancelCharge(rate, surgeNoneMicros, -1n)).toThrow('time of a run is never negative');
  expect(cancelCharge(rate, surgeNoneMicros, 0n)).toBe(0n);
});

test('attempts are numbered from 1, and jitter is from 0 to 1', () => {
  const input = { backoffSeconds: [5], attemptNumber: 1, jitter: 1 };
  expect(nextAttemptDelayMs(input)).toBe(5_500);
  expect(nextAttemptDelayMs({ ...input, jitter: 0 })).toBe(4_500);
  expect(() => nextAttemptDelayMs({ ...input, attemptNumber: 0 })).toThrow('from 1');
  expect(() => nextAttemptDelayMs({ ...input, jitter: 1.01 })).toThrow('from 0 to 1');
  expect(() => nextAttemptDelayMs({ ...input, jitter: -0.01 })).toThrow('from 0 to 1');
});
