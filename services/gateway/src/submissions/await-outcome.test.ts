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

/** Time passes only while it pauses; `rowAt` says what Postgres would. */
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

test('what was told of the outcome is not looked for', async () => {
  const told = await awaitDispatchOutcome<Row, string>({
    read: () => Promise.reject(new Error('Postgres was asked')),
    reject: () => Promise.reject(new Error('Postgres was asked')),
    pause: () => Promise.resolve('a node has it'),
    monotonicMs: () => 0,
    remainingMs: 5000,
  });
  expect(told).toBe('a node has it');
});

test('what is still pending a second past its deadline is rejected by whoever waits', async () => {
  const { row, nowMs, rejections } = await simulate((now, rejected) => ({
    ...pending(5000 - now),
    state: rejected ? 'rejected' : 'pending',
    overdue: !rejected && now >= 6000,
  }));
  expect(row?.state).toBe('rejected');
  expect(nowMs).toBe(6000);
  expect(rejections).toBe(1);
});

test('a rejection that lost to a node answers what the node made of it', async () => {
  const { row } = await simulate((now, rejected) => ({
    ...pending(5000 - now),
    state: rejected ? 'dispatched' : 'pending',
    overdue: !rejected && now >= 6000,
  }));
  expect(row?.state).toBe('dispatched');
});

test('nothing is waited for without end, whatever the database says of its clock', async () => {
  const { row, nowMs } = await simulate(() => pending(5000));
  expect(row).toBeUndefined();
  expect(nowMs).toBeLessThanOrEqual(9000);
});

test('a submission that is not there has no outcome', async () => {
  const { row } = await simulate(() => null);
  expect(row).toBeUndefined();
});

test('a duplicate polls at 25 ms first and at 200 ms in the end', () => {
  expect([0, 1, 2, 3, 4, 1000].map(pollIntervalMs)).toEqual([25, 50, 100, 200, 200, 200]);
});
