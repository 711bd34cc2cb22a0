import { expect, test } from 'vitest';
import { parseSurge } from './surge.ts';

test('a published multiplier from 1 to 3 is used unchanged', () => {
  for (const micros of [1_000_000n, 1_050_000n, 3_000_000n]) {
    expect(parseSurge(String(micros))).toBe(micros);
  }
});

test('a missing or invalid multiplier means no surge', () => {
  for (const text of [null, '', '1', '0999999', '3000001', '10000000', '1.05', 'x'.repeat(7)]) {
    expect(parseSurge(text)).toBe(1_000_000n);
  }
});
