import { describe, expect, test } from 'vitest';
import {
  eventBody,
  lateOutcomeEventData,
  lowBalanceEventData,
  submissionEventData,
  withoutFailureMessage,
} from './events.ts';

const figures = {
  submissionId: 'sub_01j0000000e00800000000000',
  jobType: 'ats.application',
  tier: 'standard',
  actualMicros: 45_100_000n,
  refundedMicros: 154_900_000n,
} as const;

describe('the data of events', () => {
  test('completed has the charge and the refund, as exact numbers', () => {
    expect(submissionEventData({ ...figures, kind: 'completed' })).toEqual({
      submissionId: figures.submissionId,
      jobType: 'ats.application',
      tier: 'standard',
      status: 'submitted',
      actualCredits: 45.1,
      refundedCredits: 154.9,
    });
  });

  test('failed adds the reason', () => {
    const failure = { code: 'node_lost', message: '', retriable: false, outcomeUnknown: true };
    expect(submissionEventData({ ...figures, kind: 'failed', failure })).toMatchObject({
      status: 'failed',
      failure,
    });
  });

  test('cancelled adds who cancelled', () => {
    expect(submissionEventData({ ...figures, kind: 'cancelled', by: 'operator' })).toMatchObject({
      status: 'cancelled',
      by: 'operator',
    });
  });

  test('low balance has the four amounts; available excludes held credits', () => {
    expect(
      lowBalanceEventData({
        balanceMicros: 999_999_999n,
        heldMicros: 200_000_000n,
        thresholdMicros: 1_000_000_000n,
      }),
    ).toEqual({ balance: 999.999999, available: 799.999999, held: 200, threshold: 1000 });
  });

  test('a late outcome has the node’s status and its time', () => {
    const at = new Date('2026-01-02T03:04:05.006Z');
    expect(
      lateOutcomeEventData({ submissionId: figures.submissionId, status: 'submitted', at }),
    ).toEqual({
      submissionId: figures.submissionId,
      status: 'submitted',
      at: '2026-01-02T03:04:05.006Z',
    });
  });
});

test('a body carries id, type, timestamp with milliseconds and data, in that order', () => {
  expect(eventBody({ id: 'evt_x', type: 'webhook.test', at: new Date(0), data: {} })).toBe(
    '{"id":"evt_x","type":"webhook.test","timestamp":"1970-01-01T00:00:00.000Z","data":{}}',
  );
});

test('the node’s message is removed from the body of an event, and the rest stays', () => {
  const at = new Date('2026-11-20T00:00:00.000Z');
  const failure = { code: 'login_required', message: 'Ana Pérez must sign in', stage: null };
  const body = (message: string) =>
    JSON.stringify({
      id: 'evt_1',
      type: 'submission.failed',
      timestamp: at.toISOString(),
      data: { status: 'failed', failure: { ...failure, message } },
    });
  expect(withoutFailureMessage(body(failure.message))).toBe(body(''));
  const other = JSON.stringify({ id: 'evt_2', data: { status: 'submitted' } });
  expect(withoutFailureMessage(other)).toBe(other);
});
