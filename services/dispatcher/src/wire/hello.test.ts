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

test('a node that names all its assignments goes on with them', () => {
  expect(compareHello([wire(dispatched), wire(running)], assignments)).toEqual({
    lost: [],
    live: [dispatched, running],
    stop: [],
  });
});

test('an assignment that the node does not name is lost, unless its outcome is stored', () => {
  expect(compareHello([wire(running)], assignments).lost).toEqual([dispatched]);
  expect(compareHello([], assignments).lost).toEqual([dispatched, running]);
});

test('ids that have ended, belong to another node or are invalid come back unchanged in stop', () => {
  const named = [wire(settling), wire(foreign), 'sub_nonsense'];
  expect(compareHello(named, assignments).stop).toEqual(named);
});
