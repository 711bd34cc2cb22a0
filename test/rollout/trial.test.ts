import { serviceNames } from '@svc/local';
import { expect, test } from 'vitest';
import type { CreateOutcome, CreateRecord } from '../history/history.ts';
import { createBalancer, planSteps, processesMax } from './steps.ts';
import { failedAnswers, latenciesOf } from './trial.ts';

function creation(beginMs: number, endMs: number | null, outcome: CreateOutcome): CreateRecord {
  const ids = { tenant: 't', key: `${beginMs}`, body: '' };
  return { kind: 'create', ...ids, beginMs, endMs, outcome };
}

const created: CreateOutcome = {
  kind: 'created',
  isReplay: false,
  submissionId: 'sub',
  answer: null,
  availableAfterMicros: 0n,
  heldMicros: 0n,
};

test('fails an answer that a client would retry, but not a refusal for lack of a slot', () => {
  const answers = {
    'POST /v1/submissions: 201': 9,
    'POST /v1/submissions: 402 insufficient_credits': 1,
    'POST /v1/submissions: 503 dispatch_unavailable': 2,
    'POST /v1/submissions: 503 dependency_unavailable': 3,
    'GET /v1/credits: 500 internal': 1,
    'POST /v1/submissions: 429 rate_limited': 1,
    'POST /v1/submissions: 408 request_timeout': 1,
    'POST /v1/submissions: no answer': 4,
  };
  expect(Object.values(failedAnswers(answers))).toEqual([3, 1, 1, 1, 4]);
});

test('measures the first answers, by the step in which their request began', () => {
  const begun = [
    { phase: 'quiet', name: 'quiet', atMs: 100 },
    { phase: 'rolled', name: 'gateway 0: restart', atMs: 200 },
  ] as const;
  const history = [
    creation(50, 99, created),
    creation(110, 120, created),
    creation(190, 230, created),
    creation(210, 215, created),
    creation(220, 290, { ...created, isReplay: true }),
    creation(230, null, created),
  ];
  expect(latenciesOf(history, begun)).toEqual([
    { phase: 'quiet', count: 2, p50Ms: 10, p99Ms: 40 },
    { phase: 'rolled', count: 1, p50Ms: 5, p99Ms: 5 },
  ]);
});

test('restarts every process, and takes each service from one process to the most and back', () => {
  const options = { rounds: 1, quietSeconds: 1, scales: true, kills: false };
  const steps = planSteps(createBalancer(), { ...options, services: serviceNames });
  const named = (phase: string) => steps.filter((step) => step.phase === phase).map((s) => s.name);
  expect(new Set(named('rolled')).size).toBe(2 * serviceNames.length);
  for (const service of serviceNames)
    expect(named('scaled')).toEqual(
      expect.arrayContaining([`${service}: scale to 1`, `${service}: scale to ${processesMax}`]),
    );
});
