import { createLogger } from '@svc/runtime';
import { expect, test } from 'vitest';
import { type AwaitedEvents, createEventWaiters } from './event-waiters.ts';

const at = (tenantId: string, endpointId = 'e', after = 0n): AwaitedEvents => ({
  tenantId,
  endpointId,
  after,
});

function waitersWith(news: () => Set<string>) {
  const looks: (readonly AwaitedEvents[])[] = [];
  const waiters = createEventWaiters({
    findNews: (awaited) => {
      looks.push(awaited);
      return Promise.resolve(news());
    },
    monotonicMs: () => performance.now(),
    logger: createLogger({ service: 'gateway', level: 'silent' }),
  });
  return { waiters, looks };
}

test('one tenant’s waiting requests leave room for others, and one look serves all', async () => {
  const { waiters, looks } = waitersWith(() => new Set(['e']));
  const waiting = Array.from({ length: 10 }, () => waiters.wait(at('a'), 30_000));
  expect(await waiters.wait(at('a'), 30_000)).toBe('full');
  waiting.push(waiters.wait(at('b'), 30_000));
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['ended']));
  expect(looks).toHaveLength(1);
  expect(looks[0]).toHaveLength(1);
  const again = waiters.wait(at('a'), 30_000);
  waiters.close();
  expect(await again).toBe('ended');
});

test('a wait ends at its time without an event', async () => {
  const { waiters } = waitersWith(() => new Set());
  expect(await waiters.wait(at('a'), 1)).toBe('ended');
  waiters.close();
  expect(await waiters.wait(at('a'), 30_000)).toBe('ended');
});
