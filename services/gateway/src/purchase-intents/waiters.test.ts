import { createLogger } from '@svc/runtime';
import { expect, test } from 'vitest';
import { createIntentWaiters } from './waiters.ts';

test('one tenant’s waiting requests leave room for others', async () => {
  const waiters = createIntentWaiters({
    readStatuses: () => Promise.resolve(new Map([['paid', 'confirmed' as const]])),
    monotonicMs: () => performance.now(),
    logger: createLogger({ service: 'gateway', level: 'silent' }),
  });
  const wait = (tenantId: string, reference = 'paid') =>
    waiters.wait({ tenantId, reference }, 30_000);
  const waiting = Array.from({ length: 10 }, () => wait('a'));
  expect(await wait('a', 'other')).toBe('full');
  waiting.push(wait('b'));
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['ended']));
  const again = wait('a', 'open');
  waiters.close();
  expect(await again).toBe('ended');
});
