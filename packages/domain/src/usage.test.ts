import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareDecimals } from './decimal.ts';
import {
  parseUsage,
  receiveUsage,
  secondsOfMs,
  type Usage,
  type UsageJson,
  usageToJson,
  usageToNumbers,
} from './usage.ts';

function usage(json: Record<string, unknown>): Usage {
  const parsed = parseUsage(json);
  if (parsed === undefined) throw new Error('not a usage');
  return parsed;
}

function received(previous: Usage, reported: Usage, sinceBeginMs: bigint): UsageJson {
  return usageToJson(receiveUsage({ previous, reported, sinceBeginMs }));
}

describe('reading', () => {
  test('numbers and decimal strings are read alike, and stored as strings', () => {
    expect(usageToJson(usage({ nodeSeconds: 1.5, actions: '8' }))).toEqual({
      nodeSeconds: '1.5',
      actions: '8',
    });
    expect(usageToNumbers(usage({ bandwidthMb: '0.1' }))).toEqual({ bandwidthMb: 0.1 });
  });

  test('the largest and the finest number are kept exactly: the price bounds what they cost', () => {
    const extremes = { actions: Number.MAX_VALUE, memoryGbSeconds: Number.MIN_VALUE };
    expect(usageToNumbers(usage(usageToJson(usage(extremes))))).toEqual(extremes);
  });

  test.each([
    null,
    [],
    'x',
    { gpuSeconds: 1 },
    { nodeSeconds: -1 },
    { nodeSeconds: null },
    { nodeSeconds: Number.NaN },
    { nodeSeconds: Number.POSITIVE_INFINITY },
    { actions: -1e-300 },
    { actions: '1e' },
  ])('what is no usage is refused: %j', (json) => {
    expect(parseUsage(json)).toBeUndefined();
  });

  test('a name that every object has is not taken for a unit', () => {
    expect(parseUsage({ constructor: 1 })).toBeUndefined();
    expect(parseUsage(JSON.parse('{"__proto__": 1}'))).toBeUndefined();
  });
});

describe('receiving a report', () => {
  test('nodeSeconds and cpuSeconds are cut to whole milliseconds, the rest is kept', () => {
    const reported = usage({ nodeSeconds: 1.0009, cpuSeconds: 2.9999, memoryGbSeconds: 0.00009 });
    expect(received({}, reported, 60_000n)).toEqual({
      nodeSeconds: '1',
      cpuSeconds: '2.999',
      memoryGbSeconds: '0.00009',
    });
  });

  test("nodeSeconds are bounded by the service's clock", () => {
    expect(received({}, usage({ nodeSeconds: 99 }), 1500n)).toEqual({ nodeSeconds: '1.5' });
    expect(received({}, usage({ nodeSeconds: 99 }), -5n)).toEqual({ nodeSeconds: '0' });
  });

  test('a unit that is no longer reported keeps what it had', () => {
    expect(received(usage({ actions: 3 }), usage({ nodeSeconds: 1 }), 5000n)).toEqual({
      nodeSeconds: '1',
      actions: '3',
    });
  });

  test('usage never goes down, whatever is reported', () => {
    const amounts = fc.record(
      {
        nodeSeconds: fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => value + 0),
        actions: fc.nat(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(amounts, amounts, fc.bigInt({ min: 0n, max: 10n ** 9n }), (first, second, ms) => {
        const previous = receiveUsage({ previous: {}, reported: usage(first), sinceBeginMs: ms });
        const kept = receiveUsage({ previous, reported: usage(second), sinceBeginMs: ms });
        const zero = secondsOfMs(0n);
        for (const unit of ['nodeSeconds', 'actions'] as const) {
          expect(compareDecimals(kept[unit] ?? zero, previous[unit] ?? zero)).not.toBe(-1);
        }
        expect(compareDecimals(kept.nodeSeconds ?? zero, secondsOfMs(ms))).not.toBe(1);
      }),
    );
  });
});
