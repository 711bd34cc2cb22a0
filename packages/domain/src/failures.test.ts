import { expect, test } from 'vitest';
import { type FailureCode, failureCodes, failureTraits } from './failures.ts';

function codesWith(trait: 'retriable' | 'outcomeUnknown', begun: boolean): FailureCode[] {
  return failureCodes.filter((code) => failureTraits(code, begun)[trait]);
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
