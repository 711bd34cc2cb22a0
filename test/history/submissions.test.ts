import { expect, test } from 'vitest';
import type { History } from './history.ts';
import { create, created, status } from './records.fixture.ts';
import { checkSubmissions } from './submissions.ts';

const cancelled = {
  kind: 'cancel',
  submissionId: 's',
  outcome: { kind: 'cancelled', chargedMicros: 1n, refundedMicros: 9n },
  beginMs: 5,
  endMs: 6,
} as const;

const good: Record<string, History> = {
  'a path without all of its statuses': [
    status('s', 'pending', [0, 1]),
    status('s', 'failed', [2, 3]),
  ],
  'two overlapping reads, the longer one older': [
    status('s', 'submitted', [1, 2]),
    status('s', 'running', [0, 9]),
  ],
  'a node that reports a reached status late': [
    status('s', 'submitted', [1, 2]),
    status('s', 'running', [9, 9], { how: 'reached' }),
  ],
  'a cancel that a webhook reports before its answer': [
    status('s', 'cancelled', [5.5, 5.5], { how: 'reached', charged: 1n }),
    cancelled,
  ],
  'a rejection after pending': [status('s', 'pending', [0, 1]), status('s', 'rejected', [2, 3])],
};

const bad: Record<string, [wrong: string, history: History]> = {
  'running seen after the end': [
    'saw submitted',
    [status('s', 'submitted', [1, 2]), status('s', 'running', [3, 4])],
  ],
  'pending seen after the answer that it is dispatched': [
    'saw dispatched',
    [create([0, 1], created('s')), status('s', 'pending', [2, 3])],
  ],
  'dispatched seen after the node has begun': [
    'saw running',
    [status('s', 'running', [1, 1], { how: 'reached' }), status('s', 'dispatched', [2, 3])],
  ],
  'two ends': ['saw failed', [status('s', 'submitted', [0, 9]), status('s', 'failed', [0, 9])]],
  'one end with two charges': [
    'charged micros: 2',
    [
      status('s', 'submitted', [0, 9], { charged: 1n }),
      status('s', 'submitted', [0, 9], { charged: 2n }),
    ],
  ],
  'a rejection of a submission that a node has': [
    'saw rejected, which follows only pending',
    [status('s', 'dispatched', [0, 1]), status('s', 'rejected', [2, 3])],
  ],
  'a cancelled submission before anybody asked': [
    'although nobody had requested a cancel',
    [status('s', 'cancelled', [1, 2], { charged: 1n }), cancelled],
  ],
};

test.each(Object.entries(good))('%s is legal', (_name, history) => {
  expect(checkSubmissions(history).violations).toEqual([]);
});

test.each(Object.entries(bad))('%s is a violation', (_name, [wrong, history]) => {
  expect(checkSubmissions(history).violations).toEqual([expect.stringContaining(wrong)]);
});
