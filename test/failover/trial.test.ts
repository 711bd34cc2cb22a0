import { expect, test } from 'vitest';
import type { HistoryRecord } from '../history/history.ts';
import { nextCreationMs } from './trial.ts';

function creation(beginMs: number, endMs: number, isReplay = false): HistoryRecord {
  return {
    kind: 'create',
    tenant: 't',
    key: `${beginMs}`,
    body: '',
    beginMs,
    endMs,
    outcome: {
      kind: 'created',
      isReplay,
      submissionId: 's',
      answer: null,
      availableAfterMicros: 0n,
      heldMicros: 0n,
    },
  };
}

test('the recovery ends with the first new creation that began after the promotion', () => {
  const history = [
    creation(90, 110),
    creation(100, 150, true),
    creation(120, 300),
    creation(130, 180),
  ];
  expect(nextCreationMs(history, 100)).toBe(80);
  expect(nextCreationMs(history, 200)).toBeUndefined();
});
