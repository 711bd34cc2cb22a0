import { describe, expect, test } from 'vitest';
import { parseUsage, type Usage, usageToJson, usageToNumbers } from './usage.ts';

function usage(json: Record<string, unknown>): Usage {
  const parsed = parseUsage(json);
  if (parsed === undefined) throw new Error('not a usage');
  return parsed;
}

describe('reading', () => {
  test('numbers and decimal strings are parsed alike, and stored as strings', () => {
    expect(usageToJson(usage({ nodeSeconds: 1.5, actions: '8' }))).toEqual({
      nodeSeconds: '1.5',
      actions: '8',
    });
    expect(usageToNumbers(usage({ bandwidthMb: '0.1' }))).toEqual({ bandwidthMb: 0.1 });
  });

  test('the largest and the finest number are kept exactly, because the price limits their cost', () => {
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
  ])('invalid usage is refused: %j', (json) => {
    expect(parseUsage(json)).toBeUndefined();
  });

  test('a name that every object has is not a unit', () => {
    expect(parseUsage({ constructor: 1 })).toBeUndefined();
    expect(parseUsage(JSON.parse('{"__proto__": 1}'))).toBeUndefined();
  });
});
