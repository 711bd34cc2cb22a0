import { randomUUID } from 'node:crypto';
import { queues, type SettlementJob } from '@svc/contracts';
import { startTestRedis, type TestRedis } from '@svc/testkit';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createConsumer, type Consumer, type ConsumerOptions } from './consumer.ts';
import { createProducer, type Producer } from './producer.ts';
import { createRedisGate, type RedisGate } from './redis-gate.fixture.ts';
import { closeRedis, connectRedis, keyPrefix, waitForRedis, type QueueLogger } from './redis.ts';

export const quiet: QueueLogger = { info() {}, warn() {}, error() {} };

export const settlementJob = (): SettlementJob => ({ submissionIds: [randomUUID()] });

export interface QueueHarness {
  readonly server: TestRedis;
  readonly gate: RedisGate;
  readonly prefix: string;
  readonly redis: Redis;
  readonly producer: Producer;
  readonly consumers: Consumer[];
}

export async function useRedis(): Promise<{ server: TestRedis; redis: Redis }> {
  const server = await startTestRedis();
  const redis = connectRedis(server.redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
  afterAll(async () => {
    await closeRedis(redis);
    await server.close();
  });
  return { server, redis };
}

export function useQueues(): () => QueueHarness {
  let server: TestRedis;
  let current: QueueHarness;

  beforeAll(async () => {
    server = await startTestRedis();
  });
  afterAll(async () => {
    await server.close();
  });
  beforeEach(async () => {
    const prefix = `test-${randomUUID()}`;
    const gate = await createRedisGate(server.redisUrl);
    const redis = connectRedis(gate.redisUrl, 'producer', quiet);
    await waitForRedis(redis, 5_000);
    const producer = createProducer({ redis, prefix, logger: quiet });
    current = { server, gate, prefix, redis, producer, consumers: [] };
  });
  afterEach(async () => {
    await Promise.all(current.consumers.map((consumer) => consumer.close()));
    await current.producer.close();
    await closeRedis(current.redis);
    await current.gate.close();
  });
  return () => current;
}

export function consume(
  harness: QueueHarness,
  handle: ConsumerOptions<'settlement'>['handle'],
  options: Partial<ConsumerOptions<'settlement'>> = {},
): Consumer {
  const consumer = createConsumer({
    redisUrl: harness.gate.redisUrl,
    prefix: harness.prefix,
    queue: 'settlement',
    logger: quiet,
    handle,
    ...options,
  });
  harness.consumers.push(consumer);
  return consumer;
}

export function collect(harness: QueueHarness): {
  readonly ids: string[];
  readonly consumer: Consumer;
} {
  const ids: string[] = [];
  const consumer = consume(harness, async (job) => void ids.push(...job.submissionIds));
  return { ids, consumer };
}

export async function inspect<T>(
  harness: QueueHarness,
  key: 'settlement' | 'dispatch',
  look: (queue: Queue) => Promise<T>,
): Promise<T> {
  const prefix = keyPrefix(harness.prefix);
  const queue = new Queue(queues[key].name, { connection: harness.redis, prefix });
  try {
    return await look(queue);
  } finally {
    await queue.close();
  }
}

/** Deletes the data and the scripts, as a restart without a dump file does. */
export async function loseEverything(server: TestRedis): Promise<void> {
  const direct = connectRedis(server.redisUrl, 'producer', quiet);
  await waitForRedis(direct, 5_000);
  await direct.flushall();
  await direct.script('FLUSH');
  await closeRedis(direct);
}
