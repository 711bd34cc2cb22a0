import { expect, test } from 'vitest';
import { createFailureLimit, type FailureLimit, type Sender } from './failure-limit.ts';

function setUp() {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  const limit = createFailureLimit({ clock, policy: { perSecond: 1, burst: 2 } });
  return { clock, limit };
}

function begin(limit: FailureLimit, sender: Sender) {
  const attempt = limit.attempt(sender);
  if (attempt.kind === 'limited') throw new Error(`must wait ${attempt.waitMs} ms`);
  return attempt;
}
const fail = (limit: FailureLimit, sender: Sender): void => void begin(limit, sender);
const succeed = (limit: FailureLimit, sender: Sender): void => begin(limit, sender).succeeded();
const forger = { address: '192.0.2.1', identity: 'tnt_forged' };
const client = { address: '192.0.2.1', identity: 'tnt_client' };

test('an address whose requests fail must wait, and other addresses do not', () => {
  const { clock, limit } = setUp();
  fail(limit, forger);
  expect(limit.waitMs(forger)).toBe(0);
  fail(limit, forger);
  expect(limit.waitMs(forger)).toBe(1000);
  expect(limit.waitMs({ ...forger, identity: 'tnt_other' })).toBe(1000);
  expect(limit.waitMs({ ...forger, address: '192.0.2.2' })).toBe(0);
  clock.nowMs = 1000;
  expect(limit.waitMs(forger)).toBe(0);
});

test('a key that has signed correctly is not blocked by others at its address', () => {
  const { limit } = setUp();
  succeed(limit, client);
  for (let count = 0; count < 2; count += 1) fail(limit, forger);
  expect(limit.waitMs(client)).toBe(0);
  for (let count = 0; count < 2; count += 1) fail(limit, client);
  expect(limit.waitMs(client)).toBeGreaterThan(0);
});

test('requests that succeed are never limited', () => {
  const { limit } = setUp();
  for (let count = 0; count < 100; count += 1) succeed(limit, client);
  expect(limit.waitMs(client)).toBe(0);
});

test('requests that are checked at the same time are limited, and those that succeed give room', () => {
  const { limit } = setUp();
  const checked = [begin(limit, forger), begin(limit, forger)];
  expect(limit.attempt(forger)).toEqual({ kind: 'limited', waitMs: 1000 });
  expect(limit.waitMs(forger)).toBe(1000);
  checked[0]?.undecided();
  expect(limit.waitMs(forger)).toBe(0);
  begin(limit, client).succeeded();
  checked[1]?.succeeded();
  expect(limit.waitMs({ ...forger, identity: 'tnt_other' })).toBe(0);
});
