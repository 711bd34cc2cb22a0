import { expect, test } from 'vitest';
import { decimalOf, parseDecimal } from './decimal.ts';
import { capUsage } from './usage-caps.ts';
import { parseUsage, type Usage, usageToNumbers } from './usage.ts';

const one = decimalOf(1n, 0);

function usage(json: Record<string, number>): Usage {
  const parsed = parseUsage(json);
  if (parsed === undefined) throw new Error('not a usage');
  return parsed;
}

test.each([
  [0n, { cpuSeconds: 5, memoryGbSeconds: 5, bandwidthMb: 50, actions: 100 }],
  [14n, { cpuSeconds: 5.448, memoryGbSeconds: 5.896, bandwidthMb: 53.5, actions: 100.7 }],
  [10_000n, { cpuSeconds: 325, memoryGbSeconds: 645, bandwidthMb: 2_550, actions: 600 }],
])('after %d ms a report may have the usage of the contract, and no more', (ms, cap) => {
  const atCap = capUsage(usage(cap), ms, one);
  expect([usageToNumbers(atCap.usage), atCap.isCapped]).toEqual([cap, false]);
  for (const [unit, amount] of Object.entries(cap)) {
    const above = capUsage(usage({ ...cap, [unit]: amount + 0.001 }), ms, one);
    expect([usageToNumbers(above.usage), above.isCapped]).toEqual([cap, true]);
  }
});

test('node-seconds have no cap here, and unreported units stay unreported', () => {
  const reported = usage({ nodeSeconds: 1e9 });
  expect(capUsage(reported, 0n, one)).toEqual({ usage: reported, isCapped: false });
});

test('a factor multiplies every cap', () => {
  const factor = parseDecimal('2.5') ?? one;
  const { usage: capped } = capUsage(usage({ cpuSeconds: 1e12, actions: 1e12 }), 1_000n, factor);
  expect(usageToNumbers(capped)).toEqual({ cpuSeconds: 92.5, actions: 375 });
});
