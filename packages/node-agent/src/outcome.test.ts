import { expect, test } from 'vitest';
import { completedOutcome, failedOutcome } from './outcome.ts';

const submissionId = 'sub_01kajh8z2wf5xav9c3q7m4n6rt';
const messageOf = (message: string) =>
  failedOutcome(submissionId, {}, { code: 'node_error', message });

test('a message of 512 characters is sent whole, and one more is cut to 512', () => {
  expect(messageOf('é'.repeat(512))).toMatchObject({ failure: { message: 'é'.repeat(512) } });
  const cut = `${'😀'.repeat(511)}…`;
  expect(messageOf('😀'.repeat(513))).toMatchObject({ failure: { message: cut } });
});

test('a message is sent without U+0000 and lone surrogates', () => {
  const expected = { failure: { message: 'a\uFFFDb\uFFFD' } };
  expect(messageOf('a\0b\uD800')).toMatchObject(expected);
});

test('a result that the service would not take is cut to its confirmation', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const cut = (confirmationId: string) =>
    completedOutcome(submissionId, {}, { confirmationId, details: circular });
  expect(cut('c-1')).toMatchObject({ result: { confirmationId: 'c-1' } });
  expect(cut('c-1')).not.toHaveProperty('result.details');
  expect(cut('c'.repeat(10_000))).toMatchObject({ type: 'completed', result: {} });
  expect(cut('c'.repeat(10_000))).not.toHaveProperty('result.confirmationId');
});
