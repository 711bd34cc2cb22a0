import { changeLogLevel, createLogger } from '@svc/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRequestLines, sampledOneIn, slowRequestMs } from './request-lines.ts';

const perSecondMax = 10;
const ordinary = { status: 201, durationMs: 5 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start() {
  const reported: unknown[] = [];
  const destination = { write: (line: string) => void reported.push(JSON.parse(line).leftOut) };
  const logger = createLogger({ service: 'gateway', level: 'info', destination });
  const clock = { monotonicMs: () => Date.now() };
  const requestLines = createRequestLines({ perSecondMax, clock, logger });
  const written = (count: number, request: Parameters<typeof requestLines.admits>[0] = ordinary) =>
    Array.from({ length: count }, () => requestLines.admits(request)).filter(Boolean).length;
  return { requestLines, written, reported, logger };
}

test('up to the limit of a second every line is written, and nothing is reported', () => {
  const { written, reported } = start();
  for (let second = 0; second < 3; second += 1) {
    expect(written(perSecondMax)).toBe(perSecondMax);
    vi.advanceTimersByTime(1_000);
  }
  expect(reported).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('beyond the limit one line of a hundred is written, and the rest is reported once a second', () => {
  const { written, reported } = start();
  expect(written(perSecondMax + 3 * sampledOneIn + 1)).toBe(perSecondMax + 3);
  expect(reported).toEqual([]);
  vi.advanceTimersByTime(999);
  expect(reported).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(reported).toEqual([3 * (sampledOneIn - 1) + 1]);
  expect(written(perSecondMax + 5)).toBe(perSecondMax);
  vi.advanceTimersByTime(1_000);
  expect(reported.slice(1)).toEqual([5]);
  vi.advanceTimersByTime(10_000);
  expect(reported).toHaveLength(2);
});

test('the lines that are written and those that are reported add up under a steady load', () => {
  const { requestLines, written, reported } = start();
  let seen = 0;
  for (let step = 0; step < 100; step += 1) {
    seen += written(37);
    vi.advanceTimersByTime(100);
  }
  void requestLines.close();
  const leftOut = reported.reduce((sum: number, count) => sum + Number(count), 0);
  expect(seen + leftOut).toBe(3_700);
  expect(seen).toBeLessThan(10 * (perSecondMax + 370 / sampledOneIn + 1));
  expect(reported.length).toBeLessThanOrEqual(11);
});

test('answers with 5xx and slow requests are always written, and do not use up the limit', () => {
  const { written, reported } = start();
  expect(written(500, { status: 503, durationMs: 1 })).toBe(500);
  expect(written(500, { status: 200, durationMs: slowRequestMs + 1 })).toBe(500);
  expect(written(500, { status: undefined, durationMs: slowRequestMs + 1 })).toBe(500);
  expect(written(perSecondMax)).toBe(perSecondMax);
  // Neither request is slow or a 5xx, so its line can be left out. A duration of exactly
  // `slowRequestMs` does not count as slow.
  for (const request of [
    { status: 499, durationMs: slowRequestMs },
    { status: undefined, durationMs: 1 },
  ])
    expect(written(10, request)).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect(reported).toEqual([20]);
});

test('at the level debug all lines are written', () => {
  const { written, reported, logger } = start();
  changeLogLevel(logger, 'debug');
  expect(written(1_010)).toBe(1_010);
  changeLogLevel(logger, null);
  expect(written(10)).toBe(0);
  expect(reported).toEqual([undefined, undefined]);
});

test('closing reports what was left out, and leaves no timer', async () => {
  const { requestLines, written, reported } = start();
  written(perSecondMax + 7);
  await requestLines.close();
  expect(reported).toEqual([7]);
  expect(vi.getTimerCount()).toBe(0);
});
