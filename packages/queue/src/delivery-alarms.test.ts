import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createConsumer } from './consumer.ts';
import { takeAlarms } from './delivery-alarms.ts';
import { announceDeliveries } from './producer.ts';
import { quiet, useQueues } from './queue-harness.fixture.ts';

const queues = useQueues();

/** Takes alarms as a deliverer does. */
function deliverer(taken: string[]): void {
  const { gate, redis, prefix, consumers } = queues();
  const consumer = createConsumer({
    redisUrl: gate.redisUrl,
    prefix,
    queue: 'webhook',
    logger: quiet,
    async handle({ tenantIds }) {
      await takeAlarms(redis, prefix, tenantIds);
      taken.push(...tenantIds);
    },
  });
  consumers.push(consumer);
}

test('a tenant is announced, and after that again', async () => {
  const taken: string[] = [];
  deliverer(taken);
  const tenantId = randomUUID();
  await announceDeliveries(queues().producer, [tenantId]);
  await waitUntil(() => taken.length === 1);
  await announceDeliveries(queues().producer, [tenantId, tenantId]);
  await waitUntil(() => taken.length === 2);
  expect(taken).toEqual([tenantId, tenantId]);
});

test('of a tenant one alarm waits at most, and others get theirs in jobs of 64', async () => {
  const { producer } = queues();
  const [flooding, ...others] = Array.from({ length: 130 }, () => randomUUID());
  for (let n = 0; n < 1_000; n += 1) await announceDeliveries(producer, [flooding ?? '']);
  expect(await producer.countWaiting('webhook')).toBe(1);
  await announceDeliveries(producer, [flooding ?? '', ...others]);
  expect(await producer.countWaiting('webhook')).toBe(4);
  const taken: string[] = [];
  deliverer(taken);
  await waitUntil(() => taken.length === 130);
  expect(new Set(taken)).toEqual(new Set([flooding, ...others]));
});

test('while no deliverer takes alarms, the queue does not grow without end', async () => {
  const { producer } = queues();
  for (let n = 0; n < 300; n += 1) await announceDeliveries(producer, [randomUUID()]);
  expect(await producer.countWaiting('webhook')).toBe(256);
});

test('an alarm whose job was lost is in the way of later ones for ten seconds, not longer', async () => {
  const { producer, redis, prefix } = queues();
  const tenantId = randomUUID();
  await announceDeliveries(producer, [tenantId]);
  const leftMs = await redis.pttl(`{${prefix}}:webhook-alarm:${tenantId}`);
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(10_000);
});

test('FLUSHALL forgets alarms and takes none away from those that come', async () => {
  const { producer, server } = queues();
  const tenantId = randomUUID();
  await announceDeliveries(producer, [tenantId]);
  await server.flush();
  await announceDeliveries(producer, [tenantId]);
  expect(await producer.countWaiting('webhook')).toBe(1);
});
