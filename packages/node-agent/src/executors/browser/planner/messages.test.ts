import { failureMessageLengthMax } from '@svc/domain';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  cutText,
  fileMessage,
  memberName,
  missingMessage,
  refusedMessage,
  unsupportedMessage,
} from './messages.ts';
import { fieldOf } from './planner.fixture.ts';

test('a missing field is named by its label, and by the member that would fill it', () => {
  const fields = [
    fieldOf('Phone *', { role: 'phone' }),
    fieldOf('Do you need a\n visa?'),
    fieldOf('Resume', { role: 'resumeFile', kind: 'file' }),
    fieldOf('✱'),
  ];
  expect(missingMessage(fields)).toBe(
    'The profile does not answer these required fields: “Phone *” (basics.phone), “Do you need a visa?”, “Resume” (files.resume), a field without a label.',
  );
});

test('two equal labels are named once', () => {
  expect(refusedMessage(['Phone', 'Email', 'Phone'])).toBe(
    'The page refused the values of these fields: “Phone”, “Email”.',
  );
});

test('any number of hostile labels fits into a message', () => {
  const labels = fc.array(fc.string({ unit: 'binary', maxLength: 600 }), {
    minLength: 1,
    maxLength: 60,
  });
  fc.assert(
    fc.property(labels, (list) => {
      const fields = list.map((label) => fieldOf(label, { role: 'phone' }));
      for (const message of [missingMessage(fields), unsupportedMessage(fields)]) {
        expect(Array.from(message).length).toBeLessThanOrEqual(failureMessageLengthMax);
        expect(message.isWellFormed()).toBe(true);
        expect(message).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
      }
    }),
  );
});

test('labels without room are counted', () => {
  const message = refusedMessage(
    Array.from({ length: 40 }, (_, index) => `Question ${index} ${'x'.repeat(200)}`),
  );
  expect(message).toMatch(/^The page refused .*“Question 4 x+…” and 35 more\.$/);
});

test('a text is cut at a code point', () => {
  expect(cutText('😀😀😀', 3)).toBe('😀😀😀');
  expect(cutText('😀😀😀', 2)).toBe('😀…');
});

test('a file is named by its member', () => {
  expect(fileMessage('resume', 'wrong_hash')).toBe('files.resume does not match its sha256.');
});

test.each([
  ['', 'applicantProfile'],
  ['/basics/email', 'basics.email'],
  ['/answers/3/question', 'answers[3].question'],
  ['/a~1b/c~0d', 'a/b.c~d'],
])('the pointer %j reads as %j', (pointer, name) => {
  expect(memberName(pointer)).toBe(name);
});
