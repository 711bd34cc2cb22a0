import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { breakerTimeoutsMax } from './breaker.ts';
import { Schedule, type Asked } from './schedule.ts';

let readied: number;
let schedule: Schedule;

function open(options: { endpointRequestsMax?: number; requestsMax?: number } = {}): Schedule {
  schedule = new Schedule({
    endpointRequestsMax: 8,
    requestsMax: 64,
    monotonicMs: () => Date.now(),
    onReady: () => void (readied += 1),
    ...options,
  });
  return schedule;
}

beforeEach(() => {
  vi.useFakeTimers();
  readied = 0;
  open();
});
afterEach(() => {
  schedule.close();
  vi.useRealTimers();
});

const taken = (asked: readonly Asked[]) =>
  asked.map(({ ask }) => [ask.tenantId, ask.attemptsMax] as const);

const attempt = {
  eventId: 'e',
  type: 't',
  round: 1,
  attemptNumber: 1,
  secrets: [],
  requestId: null,
};

function claimed(one: Asked | undefined, count: number, postponedMs = 0): void {
  if (one === undefined) throw new Error('nobody was asked for');
  const { tenantId, attemptsMax } = one.ask;
  const attempts = Array.from({ length: count }, () => ({
    ...attempt,
    deliveryId: 'd',
    tenantId,
    targetId: null,
    url: 'u',
    body: '',
  }));
  schedule.claimed(one, {
    tenantId,
    targetId: null,
    dueTargetIds: [],
    attempts,
    more: count === attemptsMax || postponedMs > 0,
    postponedMs,
  });
}

function answered(one: Asked | undefined, timedOut = false): void {
  if (one === undefined) throw new Error('nobody was asked for');
  schedule.answered(one.endpoint, { url: 'u', timedOut, nextIntervalMs: 5_000 });
  schedule.recorded();
}

test('no endpoint exceeds its limit of concurrent requests, and each one that ends frees capacity', () => {
  schedule.wake('a');
  const [first] = schedule.take();
  expect(taken(first === undefined ? [] : [first])).toEqual([['a', 8]]);
  claimed(first, 8);
  expect(schedule.take()).toEqual([]);
  answered(first);
  answered(first);
  expect(schedule.inFlight).toBe(6);
  expect(taken(schedule.take())).toEqual([['a', 2]]);
});

test('an endpoint without more due deliveries is not claimed for until it is woken', () => {
  schedule.wake('a');
  claimed(schedule.take()[0], 3);
  expect(schedule.take()).toEqual([]);
  schedule.wake('a');
  expect(taken(schedule.take())).toEqual([['a', 5]]);
});

test('an endpoint that is woken during its claim is claimed for again', () => {
  schedule.wake('a');
  const [first] = schedule.take();
  schedule.wake('a');
  expect(schedule.take()).toEqual([]);
  claimed(first, 0);
  expect(taken(schedule.take())).toEqual([['a', 8]]);
});

test('endpoints take turns', () => {
  open({ requestsMax: 16 });
  for (const tenantId of ['a', 'b', 'c']) schedule.wake(tenantId);
  // Four of the 16 request slots are reserved for tenants with nothing in flight. `a` and `b`
  // take the other twelve slots, and `c` gets one of the reserved ones.
  expect(taken(schedule.take())).toEqual([
    ['a', 8],
    ['b', 4],
    ['c', 1],
  ]);
});

test('endpoints full of slow requests leave the last slots to endpoints without any', () => {
  open({ requestsMax: 16 });
  schedule.wake('a');
  schedule.wake('b');
  for (const one of schedule.take()) claimed(one, one.ask.attemptsMax);
  expect(schedule.take()).toEqual([]);
  schedule.wake('c');
  expect(taken(schedule.take())).toEqual([['c', 1]]);
  expect(schedule.inFlight).toBe(13);
});

test('an endpoint that keeps timing out is paused, is probed by one request, and resumes after an answer', () => {
  schedule.wake('a');
  const [first] = schedule.take();
  claimed(first, 8);
  for (let n = 0; n < 8; n += 1) answered(first, true);
  expect(breakerTimeoutsMax).toBeLessThanOrEqual(8);
  expect(schedule.take()).toEqual([]);
  vi.advanceTimersByTime(4_999);
  expect(schedule.take()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(readied).toBe(1);
  const [probe] = schedule.take();
  expect(probe?.ask.attemptsMax).toBe(1);
  claimed(probe, 1);
  expect(schedule.take()).toEqual([]);
  answered(probe);
  expect(taken(schedule.take())).toEqual([['a', 8]]);
});

test('a probe that times out extends the pause', () => {
  schedule.wake('a');
  const [first] = schedule.take();
  claimed(first, 8);
  for (let n = 0; n < 8; n += 1) answered(first, true);
  vi.advanceTimersByTime(5_000);
  const [probe] = schedule.take();
  claimed(probe, 1);
  answered(probe, true);
  expect(schedule.take()).toEqual([]);
  vi.advanceTimersByTime(5_000);
  expect(taken(schedule.take())).toEqual([['a', 1]]);
});

test('a tenant that used up its hour waits for the next one', () => {
  schedule.wake('a');
  claimed(schedule.take()[0], 2, 60_000);
  schedule.wake('a');
  expect(schedule.take()).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(taken(schedule.take())).toEqual([['a', 6]]);
});

test('a near retry gets a timer, and a far one is left to the reconciler', () => {
  schedule.wakeAfter('a', null, 5_000);
  schedule.wakeAfter('b', null, 300_000);
  vi.advanceTimersByTime(5_100);
  expect(taken(schedule.take())).toEqual([['a', 8]]);
  vi.advanceTimersByTime(400_000);
  expect(schedule.take()).toEqual([]);
});

test('a failed claim frees all its capacity', () => {
  schedule.wake('a');
  const [first] = schedule.take();
  if (first === undefined) throw new Error('nobody was asked for');
  schedule.claimed(first, undefined);
  expect(schedule.inFlight).toBe(0);
  schedule.wake('a');
  expect(taken(schedule.take())).toEqual([['a', 8]]);
});

test('the last free slot of all is used', () => {
  open({ requestsMax: 1 });
  schedule.wake('a');
  expect(taken(schedule.take())).toEqual([['a', 1]]);
  expect(schedule.inFlight).toBe(1);
});

test('a schedule that was closed has no timer left', () => {
  schedule.wakeAfter('a', null, 5_000);
  expect(vi.getTimerCount()).toBe(1);
  schedule.close();
  expect(vi.getTimerCount()).toBe(0);
});

test('a capped endpoint is asked for again within a minute, because the cap may be raised', () => {
  schedule.wake('a');
  claimed(schedule.take()[0], 0, 3_600_000);
  vi.advanceTimersByTime(59_000);
  schedule.wake('a');
  expect(schedule.take()).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(taken(schedule.take())).toEqual([['a', 8]]);
});

test('many endpoints of one tenant leave the reserved slots to other tenants', () => {
  open({ requestsMax: 16 });
  for (const targetId of ['one', 'two', 'three']) schedule.wake('a', targetId);
  schedule.wake('b');
  expect(taken(schedule.take())).toEqual([
    ['a', 8],
    ['a', 4],
    ['b', 1],
  ]);
});

test('a breaker that no attempt closes is forgotten after a day', () => {
  schedule.wake('a');
  const [one] = schedule.take();
  claimed(one, breakerTimeoutsMax);
  for (let count = 0; count < breakerTimeoutsMax; count += 1) answered(one, true);
  expect(schedule.breakersOpen).toBe(1);
  vi.advanceTimersByTime(23 * 3_600_000);
  schedule.forgetOldBreakers();
  expect(schedule.breakersOpen).toBe(1);
  vi.advanceTimersByTime(2 * 3_600_000);
  schedule.forgetOldBreakers();
  expect(schedule.breakersOpen).toBe(0);
});
