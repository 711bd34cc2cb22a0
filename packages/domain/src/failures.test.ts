import { expect, test } from 'vitest';
import {
  type FailureCode,
  failureCodes,
  failureTraits,
  nodeFailureCodes,
  statedRetriable,
} from './failures.ts';

function codesWith(trait: 'retriable' | 'outcomeUnknown', begun: boolean): FailureCode[] {
  return failureCodes.filter(
    (code) => failureTraits({ code, begun, statedRetriable: null })[trait],
  );
}

test('site_unreachable, not_started, and node_error before begin are retriable', () => {
  expect(codesWith('retriable', false)).toEqual(['site_unreachable', 'node_error', 'not_started']);
  expect(codesWith('retriable', true)).toEqual(['site_unreachable', 'not_started']);
});

test('the outcome is unknown only after begin, and never if the failure is retriable', () => {
  expect(codesWith('outcomeUnknown', true)).toEqual([
    'node_error',
    'node_lost',
    'deadline_exceeded',
  ]);
  expect(codesWith('outcomeUnknown', false)).toEqual([]);
});

test('a begun node_error is retriable, and its outcome is known, if the node proves that it sent nothing', () => {
  const stated = statedRetriable('node_error', { submitted: false });
  expect(failureTraits({ code: 'node_error', begun: true, statedRetriable: stated })).toEqual({
    retriable: true,
    outcomeUnknown: false,
  });
});

test('site_unreachable is not retriable if the node says that it would happen again', () => {
  const stated = statedRetriable('site_unreachable', { submitted: false, retriable: false });
  const traits = failureTraits({
    code: 'site_unreachable',
    begun: true,
    statedRetriable: stated,
  });
  expect(traits).toEqual({ retriable: false, outcomeUnknown: false });
});

test('no other code or statement changes the traits of a failure', () => {
  const others = nodeFailureCodes.flatMap((code) => [
    statedRetriable(code, {}),
    statedRetriable(code, { submitted: true, retriable: true }),
    code === 'node_error' ? null : statedRetriable(code, { submitted: false }),
    code === 'site_unreachable' ? null : statedRetriable(code, { retriable: false }),
  ]);
  expect(new Set(others)).toEqual(new Set([null]));
});
