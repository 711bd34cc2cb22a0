import { expect, test } from 'vitest';
import type { History } from './history.ts';
import { checkKeys } from './keys.ts';
import { create, created, refused, status } from './records.fixture.ts';

const unknown = { kind: 'unknown' } as const;
const conflict = { kind: 'conflict' } as const;
const taken = { kind: 'taken' } as const;
const replay = created('s', { isReplay: true });

const good: Record<string, History> = {
  'a creation and its replay': [create([0, 2], created('s')), create([3, 4], replay)],
  'a replay that overtakes the answer': [create([0, 5], created('s')), create([1, 3], replay)],
  'a replay of a creation without an answer': [create([0, null], unknown), create([9, 10], replay)],
  'a refusal during a creation': [create([0, 5], refused), create([1, 3], created('s'))],
  'a creation after a refusal': [create([0, 1], refused), create([2, 3], created('s'))],
  'a conflict with another body': [
    create([0, 2], created('s')),
    create([3, 4], conflict, { body: 'other' }),
  ],
  'a conflict with a request that is refused later': [
    create([0, 5], refused),
    create([1, 2], conflict, { body: 'other' }),
  ],
  'two creations with a reject that may lie between them': [
    create([0, 1], created('s', { answer: '' })),
    { kind: 'reject', submissionId: 's', outcome: 'unknown', beginMs: 2, endMs: null },
    create([3, 4], created('r', { answer: '' })),
  ],
  'a key that is taken by a request without an answer': [
    create([0, null], unknown),
    create([5, 6], taken),
  ],
};

const bad: Record<string, [wrong: string, history: History]> = {
  'two submissions': [
    'had the key at the same time',
    [create([0, 9], created('s')), create([1, 8], created('r'))],
  ],
  'two first answers of one submission': [
    'created more than once',
    [create([0, 2], created('s')), create([3, 4], created('s'))],
  ],
  'a replay with another answer': [
    'got different answers',
    [
      create([0, 2], created('s')),
      create([3, 4], created('s', { isReplay: true, answer: 'other' })),
    ],
  ],
  'a replay before the creation began': [
    'can have created it before the answer',
    [create([0, 1], replay), create([2, 3], created('s'))],
  ],
  'a replay for another body': [
    'its body differs',
    [create([0, 1], created('s')), create([2, 3], replay, { body: 'other' })],
  ],
  'a conflict with its own body': [
    'both have the same body',
    [create([0, 1], created('s')), create([2, 3], conflict)],
  ],
  'a conflict with a refused request': [
    'no request with another body',
    [create([0, 1], refused), create([2, 3], conflict, { body: 'other' })],
  ],
  'a refusal after the answer': [
    'while s had the key',
    [create([0, 1], created('s')), create([2, 3], refused)],
  ],
  'a key that no request can have taken': ['no other request', [create([0, 1], taken)]],
  'two creations although the reject came later': [
    'had the key at the same time',
    [
      create([0, 1], created('s', { answer: '' })),
      create([3, 4], created('r', { answer: '' })),
      { kind: 'reject', submissionId: 's', outcome: 'rejected', beginMs: 5, endMs: 6 },
    ],
  ],
  'a submission of a refused key': [
    'no request can have created anything',
    [create([0, 1], refused), status('s', 'dispatched', [2, 3])],
  ],
  'two submissions in a list': [
    'the key has several submissions',
    [create([0, null], unknown), status('s', 'dispatched', [2, 3]), status('r', 'failed', [2, 3])],
  ],
  'a submission before its request': [
    'before anybody requested',
    [status('s', 'pending', [0, 1]), create([2, 3], created('s'))],
  ],
};

test.each(Object.entries(good))('%s is linearizable', (_name, history) => {
  expect(checkKeys(history).violations).toEqual([]);
});

test.each(Object.entries(bad))('%s is a violation', (_name, [wrong, history]) => {
  expect(checkKeys(history).violations).toEqual([expect.stringContaining(wrong)]);
});
