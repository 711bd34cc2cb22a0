import type { OutboundOutcome } from '@svc/runtime';
import { describe, expect, test } from 'vitest';
import { decideVerdict, parseRetryAfterSeconds } from './verdict.ts';

const nowMs = Date.parse('2026-01-02T03:04:05.000Z');
const backoffSeconds = [5, 60, 300];

function verdictOf(outcome: OutboundOutcome, attemptNumber = 1) {
  return decideVerdict({ outcome, attemptNumber, backoffSeconds, jitter: 0.5, nowMs });
}

function answered(statusCode: number, headers: Record<string, string> = {}): OutboundOutcome {
  return { kind: 'responded', statusCode, headers, body: new Uint8Array(), durationMs: 1 };
}

test.each([200, 201, 204, 299])('%d delivers', (statusCode) => {
  expect(verdictOf(answered(statusCode))).toEqual({ kind: 'delivered' });
  expect(verdictOf(answered(statusCode), 4)).toEqual({ kind: 'delivered' });
});

test.each([199, 300, 301, 307, 400, 404, 409, 411, 429, 500, 503])(
  '%d is tried again',
  (statusCode) => {
    expect(verdictOf(answered(statusCode))).toEqual({ kind: 'retry', delayMs: 5_000 });
  },
);

test('a 410 ends the endpoint, at any attempt', () => {
  expect(verdictOf(answered(410))).toEqual({ kind: 'gone' });
  expect(verdictOf(answered(410), 4)).toEqual({ kind: 'gone' });
});

test.each(['failed', 'refused'] as const)(
  'an attempt with the outcome %s is retried on the schedule',
  (kind) => {
    const outcome = { kind, reason: 'no', durationMs: 1, timedOut: false };
    expect(verdictOf(outcome, 2)).toEqual({ kind: 'retry', delayMs: 60_000 });
    expect(verdictOf(outcome, 3)).toEqual({ kind: 'retry', delayMs: 300_000 });
    expect(verdictOf(outcome, 4)).toEqual({ kind: 'exhausted' });
  },
);

describe('Retry-After', () => {
  test.each([429, 503])(
    'of a %d delays the next attempt, by at most twice its interval',
    (status) => {
      expect(verdictOf(answered(status, { 'retry-after': '7' }))).toEqual({
        kind: 'retry',
        delayMs: 7_000,
      });
      expect(verdictOf(answered(status, { 'retry-after': '900' }))).toEqual({
        kind: 'retry',
        delayMs: 10_000,
      });
      expect(verdictOf(answered(status, { 'retry-after': '1' }))).toEqual({
        kind: 'retry',
        delayMs: 5_000,
      });
    },
  );

  test('adds no attempt to an exhausted schedule', () => {
    expect(verdictOf(answered(503, { 'retry-after': '7' }), 4)).toEqual({ kind: 'exhausted' });
  });

  test('of any other status is ignored', () => {
    expect(verdictOf(answered(500, { 'retry-after': '7' }))).toEqual({
      kind: 'retry',
      delayMs: 5_000,
    });
  });

  test.each([
    ['0', 0],
    [' 120 ', 120],
    ['Fri, 02 Jan 2026 03:05:05 GMT', 60],
    ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
    ['', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['2026', 2026],
    ['2026-01-02', undefined],
    ['Fri, nonsense GMT', undefined],
    ['99999999999999', undefined],
  ])('%j is %s seconds', (header, seconds) => {
    expect(parseRetryAfterSeconds(header, nowMs)).toBe(seconds);
  });
});
