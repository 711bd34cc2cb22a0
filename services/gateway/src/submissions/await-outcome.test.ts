import { expect, test } from 'vitest';
import { awaitDispatchOutcome, pollIntervalMs } from './await-outcome.ts';

interface Row {
  state: string;
  overdue: boolean;
  remainingMs: number;
}

const pending = (remainingMs: number): Row => ({
  state: 'pending',
  overdue: remainingMs <= -1000,
  remainingMs,
});

/** Simulates the wait. Time passes only in `pause`. `rowAt` returns the row that Postgres has. */
function simulate(rowAt: (nowMs: number, rejected: boolean) => Row | null, remainingMs = 5000) {
  let nowMs = 0;
  let rejections = 0;
  const outcome = awaitDispatchOutcome({
    read: async () => await Promise.resolve(rowAt(nowMs, rejections > 0)),
    reject: async () => {
      rejections += 1;
      await Promise.resolve();
    },
    pause: async (ms) => {
      nowMs += ms;
      await Promise.resolve();
      return undefined;
    },
    monotonicMs: () => nowMs,
    remainingMs,
  });
  return outcome.then((row) => ({ row, nowMs, rejections }));
}

test('an outcome whose reply was lost is found within a second', async () => {
  const { row, nowMs } = await simulate((now) =>
    now > 100 ? { ...pending(0), state: 'dispatched' } : pending(5000 - now),
  );
  expect(row?.state).toBe('dispatched');
  expect(nowMs).toBe(1000);
});

test('a reported outcome is used without reading Postgres', async () => {
  const reported = await awaitDispatchOutcome<Row, string>({
    read: () => Promise.reject(new Error('Postgres was read')),
    reject: () => Promise.reject(new Error('Postgres was read')),
    pause: () => Promise.resolve('a node has it'),
    monotonicMs: () => 0,
    remainingMs: 5000,
  });
  expect(reported).toBe('a node has it');
});

test('a creation still pending a second after its deadline is rejected by the waiter', async () => {
  const { row, nowMs, rejections } = await simulate((now, rejected) => ({
    ...pending(5000 - now),
    state: rejected ? 'rejected' : 'pending',
    overdue: !rejected && now >= 6000,
  }));
  expect(row?.state).toBe('rejected');
  expect(nowMs).toBe(6000);
  expect(rejections).toBe(1);
});

test('if a node accepts before the rejection, the answer is the accepted creation', async () => {
  const { row } = await simulate((now, rejected) => ({
    ...pending(5000 - now),
    state: rejected ? 'dispatched' : 'pending',
    overdue: !rejected && now >= 6000,
  }));
  expect(row?.state).toBe('dispatched');
});

test('the wait ends even if the clock of the database does not advance', async () => {
  const { row, nowMs } = await simulate(() => pending(5000));
  expect(row).toBeUndefined();
  expect(nowMs).toBeLessThanOrEqual(9000);
});

test('a missing submission has no outcome', async () => {
  const { row } = await simulate(() => null);
  expect(row).toBeUndefined();
});

test('a duplicate polls after 25 ms first and every 200 ms in the end', () => {
  expect([0, 1, 2, 3, 4, 1000].map(pollIntervalMs)).toEqual([25, 50, 100, 200, 200, 200]);
});
