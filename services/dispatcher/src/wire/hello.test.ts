import { toWireId } from '@svc/domain';
import { expect, test } from 'vitest';

import { compareHello } from './hello.ts';

const ids = ['1', '2', '3', '4'].map((n) => `0190e0d0-0000-7000-8000-00000000000${n}`);
const [dispatched = '', running = '', settling = '', foreign = ''] = ids;
const wire = (id: string): string => toWireId('sub', id);

const assignments = [
  { submissionId: dispatched, state: 'dispatched' },
  { submissionId: running, state: 'running' },
  { submissionId: settling, state: 'settling' },
] as const;

test('a node that has all it was given goes on with it', () => {
  expect(compareHello([wire(dispatched), wire(running)], assignments)).toEqual({
    lost: [],
    live: [dispatched, running],
    stop: [],
  });
});

test('what it was given and does not name is lost, but not what has ended', () => {
  expect(compareHello([wire(running)], assignments).lost).toEqual([dispatched]);
  expect(compareHello([], assignments).lost).toEqual([dispatched, running]);
});

test('what has ended, is not its own or is no id at all it must stop, in its own words', () => {
  const named = [wire(settling), wire(foreign), 'sub_nonsense'];
  expect(compareHello(named, assignments).stop).toEqual(named);
});
