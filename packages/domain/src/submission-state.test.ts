import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isTerminal,
  type SubmissionState,
  submissionStates,
  type SubmissionTrigger,
  submissionTriggers,
  terminalStates,
  transition,
  wireStatus,
  wireStatuses,
} from './submission-state.ts';

const table: [SubmissionState, SubmissionTrigger, SubmissionState][] = [
  ['pending', 'dispatch', 'dispatched'],
  ['pending', 'cancel', 'cancelled'],
  ['pending', 'reject', 'rejected'],
  ['dispatched', 'begin', 'running'],
  ['dispatched', 'store_outcome', 'settling'],
  ['dispatched', 'cancel', 'cancelled'],
  ['running', 'store_outcome', 'settling'],
  ['running', 'cancel', 'cancelled'],
  ['settling', 'settle_completed', 'submitted'],
  ['settling', 'settle_failed', 'failed'],
];

test('exactly these transitions exist', () => {
  const found = submissionStates.flatMap((state) =>
    submissionTriggers.flatMap((trigger) => {
      const moved = transition(state, trigger);
      return moved.kind === 'moved' ? [[state, trigger, moved.to]] : [];
    }),
  );
  expect(found).toHaveLength(table.length);
  expect(found).toEqual(expect.arrayContaining(table));
});

test('no transition leaves a terminal state', () => {
  for (const state of terminalStates) {
    expect(isTerminal(state)).toBe(true);
    for (const trigger of submissionTriggers) {
      expect(transition(state, trigger)).toEqual({ kind: 'refused' });
    }
  }
});

test('after any triggers a submission was dispatched and settled at most once', () => {
  const lives = fc.array(fc.constantFrom(...submissionTriggers), { maxLength: 60 });
  fc.assert(
    fc.property(lives, (triggers) => {
      let state: SubmissionState = 'pending';
      const entered: SubmissionState[] = [];
      for (const trigger of triggers) {
        const moved = transition(state, trigger);
        if (moved.kind === 'refused') continue;
        state = moved.to;
        entered.push(state);
      }
      expect(new Set(entered).size).toBe(entered.length);
      expect(entered.filter(isTerminal).length).toBeLessThanOrEqual(1);
    }),
  );
});

test('on the wire settling is running, and rejected does not exist', () => {
  expect(wireStatus('settling')).toBe('running');
  expect(wireStatus('rejected')).toBeNull();
  expect(wireStatuses.map((status) => wireStatus(status))).toEqual([...wireStatuses]);
});
