import { expect, it } from 'vitest';
import { createFailpoints } from './failpoints.ts';

it('stops the first process that reaches a failpoint, and lets later ones pass', async () => {
  const failpoints = createFailpoints();
  const released: string[] = [];
  const reached = failpoints.reached('dispatcher', 'outcome.stored', 1_000);
  for (const index of [1, 0]) {
    const release = (name: string) => released.push(`${name} of ${index}`);
    failpoints.receive('dispatcher', index, { failpoint: 'outcome.stored' }, release);
  }
  expect(await reached).toBe(1);
  expect(released).toStrictEqual(['outcome.stored of 0']);
  failpoints.release('dispatcher', 'outcome.stored');
  expect(released).toStrictEqual(['outcome.stored of 0', 'outcome.stored of 1']);
});

it('finds a failpoint that was reached before the call', async () => {
  const failpoints = createFailpoints();
  failpoints.receive('gateway', 0, { failpoint: 'hold.committed' }, () => {});
  expect(await failpoints.reached('gateway', 'hold.committed', 0)).toBe(0);
});

it('names the failpoint that no process reached', async () => {
  const failpoints = createFailpoints();
  failpoints.receive('gateway', 0, { failpoint: 'hold.committed' }, () => {});
  failpoints.receive('gateway', 0, 'something else', () => {});
  await expect(failpoints.reached('settlement', 'hold.committed', 10)).rejects.toThrow(
    'no process reached settlement: hold.committed within 10 ms',
  );
});
