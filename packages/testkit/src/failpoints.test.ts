import { expect, it } from 'vitest';
import { createFailpoints } from './failpoints.ts';

it('holds the first process that reaches a point, and lets any later one pass', async () => {
  const failpoints = createFailpoints();
  const released: string[] = [];
  const reached = failpoints.reached('dispatcher', 'outcome.stored', 1_000);
  for (const index of [1, 0]) {
    const release = (name: string) => released.push(`${name} of ${index}`);
    failpoints.hear('dispatcher', index, { failpoint: 'outcome.stored' }, release);
  }
  expect(await reached).toBe(1);
  expect(released).toStrictEqual(['outcome.stored of 0']);
  failpoints.release('dispatcher', 'outcome.stored');
  expect(released).toStrictEqual(['outcome.stored of 0', 'outcome.stored of 1']);
});

it('knows a point that was reached before anybody asked', async () => {
  const failpoints = createFailpoints();
  failpoints.hear('gateway', 0, { failpoint: 'hold.committed' }, () => {});
  expect(await failpoints.reached('gateway', 'hold.committed', 0)).toBe(0);
});

it('says which point nobody reached', async () => {
  const failpoints = createFailpoints();
  failpoints.hear('gateway', 0, { failpoint: 'hold.committed' }, () => {});
  failpoints.hear('gateway', 0, 'something else', () => {});
  await expect(failpoints.reached('settlement', 'hold.committed', 10)).rejects.toThrow(
    'nobody reached settlement: hold.committed in 10 ms',
  );
});
