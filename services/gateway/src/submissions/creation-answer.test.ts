import { SubmissionCreated, compileSchema } from '@svc/contracts';
import type { SubmissionState } from '@svc/domain';
import { describe, expect, test } from 'vitest';
import { creationAnswer, decideDuplicate, type CreationState } from './creation-answer.ts';

const creation: CreationState = {
  id: '019ab000-0000-7000-8000-000000000001',
  state: 'dispatched',
  dispatched: true,
  quote: { estimatedMicros: 43_950_000n, maxMicros: 300_000_000n, surgeMicros: 1_050_000n },
  availableAfterMicros: 9_700_000_001n,
  chargedMicros: null,
  refundedMicros: null,
};
const hash = new Uint8Array([1, 2, 3]);
const decide = (state: SubmissionState, overdue = false) =>
  decideDuplicate({ state, overdue, requestHash: hash }, hash);

describe('a taken key', () => {
  test('is a conflict for another body in every state', () => {
    for (const state of ['pending', 'running', 'cancelled'] as const) {
      const found = { state, requestHash: new Uint8Array([1, 2, 4]), overdue: false };
      expect(decideDuplicate(found, hash)).toBe('conflict');
    }
  });

  test('makes the same body wait if pending, reject if overdue, else replay', () => {
    expect(decide('pending')).toBe('wait');
    expect(decide('pending', true)).toBe('reject');
    expect(decide('dispatched')).toBe('answer');
    expect(decide('cancelled')).toBe('answer');
  });
});

describe('the answer to a creation', () => {
  test('is 201 with exact figures and matches its schema', () => {
    const answer = creationAnswer(creation, { isReplay: false });
    expect(answer).toMatchObject({
      kind: 'json',
      status: 201,
      body: {
        status: 'dispatched',
        quote: { estimated: 43.95, max: 300, surge: 1.05 },
        balance: { after: 9700.000001, held: 300 },
      },
    });
    if (answer?.kind !== 'json') throw new Error('unexpected problem');
    expect(compileSchema(SubmissionCreated)(answer.body)).toMatchObject({ kind: 'valid' });
    expect(answer.body).not.toHaveProperty('idempotent');
  });

  test.each<SubmissionState>(['dispatched', 'running', 'settling', 'submitted', 'failed'])(
    'is repeated unchanged in state %s, as 200 with `idempotent`',
    (state) => {
      const first = creationAnswer(creation, { isReplay: false });
      const replay = creationAnswer({ ...creation, state }, { isReplay: true });
      if (first?.kind !== 'json' || replay?.kind !== 'json') throw new Error('unexpected problem');
      expect(replay.status).toBe(200);
      expect(replay.body).toEqual({ ...first.body, idempotent: true });
    },
  );

  test('is still the first answer after a dispatched submission was cancelled', () => {
    const answer = creationAnswer({ ...creation, state: 'cancelled' }, { isReplay: true });
    expect(answer).toMatchObject({ status: 200, body: { status: 'dispatched' } });
  });

  test('is terminal_state if cancelled while pending, for the first request and every replay', () => {
    const cancelled = {
      ...creation,
      state: 'cancelled',
      dispatched: false,
      chargedMicros: 0n,
      refundedMicros: 300_000_000n,
    } as const;
    for (const isReplay of [false, true]) {
      expect(creationAnswer(cancelled, { isReplay })).toMatchObject({
        code: 'terminal_state',
        extras: { submissionStatus: 'cancelled', refund: { amount: 300, charged: 0 } },
      });
    }
  });

  test('is dispatch_unavailable with Retry-After if rejected', () => {
    const rejected = { ...creation, state: 'rejected', dispatched: false } as const;
    expect(creationAnswer(rejected, { isReplay: true })).toMatchObject({
      code: 'dispatch_unavailable',
      headers: { 'retry-after': '1' },
    });
  });

  test('does not exist while pending', () => {
    const pending = { ...creation, state: 'pending', dispatched: false } as const;
    expect(creationAnswer(pending, { isReplay: false })).toBeUndefined();
  });
});
