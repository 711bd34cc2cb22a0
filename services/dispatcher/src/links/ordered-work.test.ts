import { expect, test } from 'vitest';
import { createOrderedWork } from './ordered-work.ts';

function gated(notes: string[], name: string) {
  const gate = Promise.withResolvers<void>();
  const work = async () => {
    notes.push(`${name} begins`);
    await gate.promise;
    notes.push(`${name} ends`);
  };
  return { work, letGo: () => gate.resolve() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('work under one key runs in order, and work under another key does not wait for it', async () => {
  const notes: string[] = [];
  const [first, second, other] = ['first', 'second', 'other'].map((name) => gated(notes, name));
  if (first === undefined || second === undefined || other === undefined) throw new Error('none');
  const ordered = createOrderedWork();
  ordered.run('a', first.work);
  ordered.run('a', second.work);
  ordered.run('b', other.work);
  second.letGo();
  other.letGo();
  await turn();
  expect(notes).toEqual(['first begins', 'other begins', 'other ends']);
  first.letGo();
  await turn();
  expect(notes.slice(3)).toEqual(['first ends', 'second begins', 'second ends']);
});

test('the size counts queued and running work, and each end is reported', async () => {
  const notes: string[] = [];
  const sizes: number[] = [];
  const ordered = createOrderedWork(() => sizes.push(ordered.size));
  const [first, second] = [gated(notes, 'first'), gated(notes, 'second')];
  ordered.run('a', first.work);
  ordered.run('a', second.work);
  expect(ordered.size).toBe(2);
  first.letGo();
  second.letGo();
  await turn();
  expect(sizes).toEqual([1, 0]);
});

test('it is idle only when no work is left, including work added meanwhile', async () => {
  const notes: string[] = [];
  const ordered = createOrderedWork();
  const [first, second] = [gated(notes, 'first'), gated(notes, 'second')];
  ordered.run('a', first.work);
  let isIdle = false;
  const idle = ordered.idle().then(() => (isIdle = true));
  ordered.run('a', second.work);
  first.letGo();
  await turn();
  expect(isIdle).toBe(false);
  second.letGo();
  await turn();
  expect(isIdle).toBe(true);
  await idle;
  await ordered.idle();
});
