import { expect, test } from 'vitest';
import { createFailureLimit } from './failure-limit.ts';

function setUp() {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  const limit = createFailureLimit({ clock, policy: { perSecond: 1, burst: 2 } });
  return { clock, limit };
}
const forger = { address: '192.0.2.1', identity: 'tnt_forged' };
const client = { address: '192.0.2.1', identity: 'tnt_client' };

test('an address whose requests fail must wait, and other addresses do not', () => {
  const { clock, limit } = setUp();
  limit.failed(forger);
  expect(limit.waitMs(forger)).toBe(0);
  limit.failed(forger);
  expect(limit.waitMs(forger)).toBe(1000);
  expect(limit.waitMs({ ...forger, identity: 'tnt_other' })).toBe(1000);
  expect(limit.waitMs({ ...forger, address: '192.0.2.2' })).toBe(0);
  clock.nowMs = 1000;
  expect(limit.waitMs(forger)).toBe(0);
});

test('a key that has signed correctly is not blocked by others at its address', () => {
  const { limit } = setUp();
  limit.succeeded(client);
  for (let count = 0; count < 5; count += 1) limit.failed(forger);
  expect(limit.waitMs(client)).toBe(0);
  for (let count = 0; count < 2; count += 1) limit.failed(client);
  expect(limit.waitMs(client)).toBeGreaterThan(0);
});

test('requests that succeed are never limited', () => {
  const { limit } = setUp();
  for (let count = 0; count < 100; count += 1) limit.succeeded(client);
  expect(limit.waitMs(client)).toBe(0);
});
