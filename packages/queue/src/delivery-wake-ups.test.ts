import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createConsumer } from './consumer.ts';
import { takeWakeUpTenants } from './delivery-wake-ups.ts';
import { announceDeliveries } from './producer.ts';
import { quiet, useQueues } from './queue-harness.fixture.ts';

const queues = useQueues();

function deliverer(taken: string[]): void {
  const { gate, redis, prefix, consumers } = queues();
  const consumer = createConsumer({
    redisUrl: gate.redisUrl,
    prefix,
    queue: 'webhook',
    logger: quiet,
    async handle({ tenantIds }) {
      taken.push(...tenantIds, ...(await takeWakeUpTenants(redis, prefix)));
    },
  });
  consumers.push(consumer);
}

test('a tenant can be announced again after its wake-up job is taken', async () => {
  const taken: string[] = [];
  deliverer(taken);
  const tenantId = randomUUID();
  await announceDeliveries(queues().producer, [tenantId]);
  await waitUntil(() => taken.length === 1);
  await announceDeliveries(queues().producer, [tenantId, tenantId]);
  await waitUntil(() => taken.length === 2);
  expect(taken).toEqual([tenantId, tenantId]);
});

test('at most one wake-up job waits, and it serves each tenant announced meanwhile once', async () => {
  const { producer } = queues();
  const [flooding, ...others] = Array.from({ length: 130 }, () => randomUUID());
  for (let n = 0; n < 1_000; n += 1) await announceDeliveries(producer, [flooding ?? '']);
  await announceDeliveries(producer, [flooding ?? '', ...others]);
  expect(await producer.countWaiting('webhook')).toBe(1);
  const taken: string[] = [];
  deliverer(taken);
  await waitUntil(() => new Set(taken).size === 130);
  expect(new Set(taken)).toEqual(new Set([flooding, ...others]));
  // The flooding tenant appears twice: in the waiting job, and in the set of tenants that joined
  // the job.
  expect(taken).toHaveLength(131);
});

test('a tenant announced while a wake-up job is handled gets a new one', async () => {
  const { producer, redis, prefix, gate, consumers } = queues();
  const [first, second] = [randomUUID(), randomUUID()];
  const taken: string[][] = [];
  const started = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  consumers.push(
    createConsumer({
      redisUrl: gate.redisUrl,
      prefix,
      queue: 'webhook',
      logger: quiet,
      async handle({ tenantIds }) {
        taken.push([...tenantIds, ...(await takeWakeUpTenants(redis, prefix))]);
        started.resolve();
        await go.promise;
      },
    }),
  );
  await announceDeliveries(producer, [first]);
  await started.promise;
  await announceDeliveries(producer, [second]);
  go.resolve();
  await waitUntil(() => taken.length === 2);
  expect(taken).toEqual([[first], [second]]);
});

test('without deliverers, neither the queue nor the set grows without limit', async () => {
  const { producer, redis, prefix } = queues();
  for (let n = 0; n < 100; n += 1) {
    await announceDeliveries(
      producer,
      Array.from({ length: 64 }, () => randomUUID()),
    );
  }
  expect(await producer.countWaiting('webhook')).toBe(1);
  expect(await redis.scard(`{${prefix}}:webhook-alarms`)).toBe(4_096);
});

test('a set that no deliverer takes expires after ten seconds', async () => {
  const { producer, redis, prefix } = queues();
  for (let n = 0; n < 2; n += 1) await announceDeliveries(producer, [randomUUID()]);
  const leftMs = await redis.pttl(`{${prefix}}:webhook-alarms`);
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(10_000);
});

test('after a FLUSHALL the next announcement enqueues a wake-up job', async () => {
  const { producer, server } = queues();
  const tenantId = randomUUID();
  await announceDeliveries(producer, [tenantId]);
  await server.flush();
  await announceDeliveries(producer, [tenantId]);
  expect(await producer.countWaiting('webhook')).toBe(1);
});
