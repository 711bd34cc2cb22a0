import { waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createSlots } from './slots.ts';

test('no more than so many run at once, and the rest in the order it came', async () => {
  const slots = createSlots(2);
  const started: number[] = [];
  const finish: (() => void)[] = [];
  const all = [0, 1, 2, 3].map((index) =>
    slots.run(async () => {
      started.push(index);
      await new Promise<void>((resolve) => {
        finish[index] = resolve;
      });
      return index;
    }),
  );
  await waitUntil(() => started.length === 2);
  finish[1]?.();
  await waitUntil(() => started.length === 3);
  expect(started).toEqual([0, 1, 2]);
  finish[0]?.();
  await waitUntil(() => started.length === 4);
  finish[2]?.();
  finish[3]?.();
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
});

test('work that fails gives its slot back', async () => {
  const slots = createSlots(1);
  await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await slots.run(() => Promise.resolve('next'))).toBe('next');
});
