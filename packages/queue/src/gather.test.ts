import { expect, test } from 'vitest';
import { createGatherer } from './gather.ts';

/**
 * Returns a gatherer and its calls. A call stays in flight until the test resolves or rejects its
 * `end`.
 */
function openCalls() {
  const calls: { items: readonly string[]; end: PromiseWithResolvers<void> }[] = [];
  const gather = createGatherer<string>((key, items) => {
    const end = Promise.withResolvers<void>();
    calls.push({ items: [key, ...items], end });
    return end.promise;
  });
  return { gather, calls, items: () => calls.map(({ items }) => items) };
}

/**
 * Waits for three turns of the event loop. After them, each item has been passed on, unless a call
 * for its key is in flight.
 */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('items of one turn share a call, and each key has calls by itself', async () => {
  const { gather, calls, items } = openCalls();
  const done = [gather('a', '1'), gather('b', '2'), gather('a', '3')];
  await idle();
  for (const { end } of calls) end.resolve();
  await Promise.all(done);
  expect(items()).toEqual([
    ['a', '1', '3'],
    ['b', '2'],
  ]);
});

test('items that arrive while a call is in flight share the next one', async () => {
  const { gather, calls, items } = openCalls();
  const first = gather('a', '1');
  await idle();
  const early = gather('a', '2');
  await idle();
  const late = gather('a', '3');
  calls[0]?.end.resolve();
  await idle();
  calls[1]?.end.resolve();
  await Promise.all([first, early, late]);
  expect(items()).toEqual([
    ['a', '1'],
    ['a', '2', '3'],
  ]);
});

test('if a call fails, the items that wait for it fail too, and later items are sent', async () => {
  const { gather, calls, items } = openCalls();
  const failed = [gather('a', '1')];
  await idle();
  failed.push(gather('a', '2'));
  await idle();
  calls[0]?.end.reject(new Error('silent'));
  const results = await Promise.allSettled(failed);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const later = gather('a', '3');
  await idle();
  calls[1]?.end.resolve();
  await later;
  expect(items()).toEqual([
    ['a', '1'],
    ['a', '3'],
  ]);
});
