import { expect, test } from 'vitest';
import type { Timers } from '../timers.ts';
import { createInbox } from './inbox.ts';

function createManualTimers() {
  const set: { delayMs: number; run: () => void; isCleared: boolean }[] = [];
  const timers: Timers = {
    after(delayMs, run) {
      const timer = { delayMs, run, isCleared: false };
      set.push(timer);
      return { clear: () => void (timer.isCleared = true) };
    },
  };
  return { timers, set };
}

test('an item that arrives during a wait ends the wait and clears its timer', async () => {
  const { timers, set } = createManualTimers();
  const inbox = createInbox<string>(timers);
  const next = inbox.next(20.2);
  expect(set).toMatchObject([{ delayMs: 21, isCleared: false }]);
  inbox.put('one');
  expect(await next).toBe('one');
  expect(set).toMatchObject([{ isCleared: true }]);
});

test('items are taken in order, without a wait if the inbox is not empty', async () => {
  const { timers, set } = createManualTimers();
  const inbox = createInbox<string>(timers);
  expect(inbox.poll()).toBeUndefined();
  for (const item of ['one', 'two', 'three']) inbox.put(item);
  expect(await inbox.next(10)).toBe('one');
  expect(inbox.poll()).toBe('two');
  expect(await inbox.next(-1)).toBe('three');
  expect(set).toEqual([]);
});

test('a wait ends after its time, which is never negative', async () => {
  const { timers, set } = createManualTimers();
  const inbox = createInbox<string>(timers);
  const next = inbox.next(-5);
  expect(set).toMatchObject([{ delayMs: 0 }]);
  set[0]?.run();
  expect(await next).toBeUndefined();
});
