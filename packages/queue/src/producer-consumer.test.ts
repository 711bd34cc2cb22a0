import { randomUUID } from 'node:crypto';

import { waitUntil } from '@svc/testkit';
import { describe, expect, test } from 'vitest';

import { createConsumer } from './consumer.ts';
import { InvalidJob } from './job-schemas.ts';
import { enqueueSettlements } from './producer.ts';
import {
  collect,
  consume,
  inspect,
  quiet,
  settlementJob,
  useQueues,
} from './queue-harness.fixture.ts';

const queues = useQueues();

describe('what is put on a queue', () => {
  test('arrives as it was, and leaves nothing behind', async () => {
    const sent = settlementJob();
    await queues().producer.enqueue('settlement', sent);
    const { ids } = collect(queues());
    await waitUntil(() => ids.length === 1);
    expect(ids).toEqual(sent.submissionIds);
    await inspect(queues(), 'settlement', (queue) =>
      waitUntil(async () => (await queue.getJobCountByTypes('active', 'completed', 'wait')) === 0),
    );
  });

  test('must be what the catalogue says, on sending', async () => {
    const broken = { submissionIds: ['sub_123'] };
    await expect(queues().producer.enqueue('settlement', broken)).rejects.toThrow(InvalidJob);
    await expect(
      queues().producer.enqueueBulk('settlement', [{ job: settlementJob() }, { job: broken }]),
    ).rejects.toThrow(InvalidJob);
  });

  test('must be what the catalogue says, on receiving: else it is parked and not tried again', async () => {
    await inspect(queues(), 'settlement', (queue) =>
      queue.add('x', { personalData: true }, { attempts: 5 }),
    );
    const { ids } = collect(queues());
    const failed = await inspect(queues(), 'settlement', (queue) =>
      waitUntil(async () => (await queue.getFailed())[0]),
    );
    expect(failed.failedReason).toContain('settlement.v1');
    expect(failed.attemptsMade).toBe(1);
    expect(ids).toEqual([]);
  });

  test.each([
    ['is no JSON', '{"submissionIds":'],
    ['nests 100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['is null', 'null'],
  ])('and %s harms no other job', async (_what, data) => {
    const { redis, prefix, producer } = queues();
    const key = `{${prefix}}:settlement.v1`;
    for (const jobId of ['poison-1', 'poison-2']) {
      await redis.hset(`${key}:${jobId}`, { name: 'x', data, opts: '{}', timestamp: 1, delay: 0 });
      await redis.lpush(`${key}:wait`, jobId);
      await producer.enqueue('settlement', settlementJob());
    }
    const { ids, consumer } = collect(queues());
    await waitUntil(() => ids.length === 2);
    await producer.enqueue('settlement', settlementJob());
    await waitUntil(() => ids.length === 3);
    expect(consumer.isPolling()).toBe(true);
  });

  test('of any length is split into jobs of at most 64 ids', async () => {
    const sent = Array.from({ length: 150 }, () => randomUUID());
    const { ids } = collect(queues());
    await enqueueSettlements(queues().producer, sent);
    await waitUntil(() => ids.length === 150);
    expect(new Set(ids)).toEqual(new Set(sent));
    await enqueueSettlements(queues().producer, []);
  });

  test('with a higher priority is taken first', async () => {
    const [low, high, middle] = [settlementJob(), settlementJob(), settlementJob()];
    await queues().producer.enqueue('settlement', low, { priority: 3 });
    await queues().producer.enqueue('settlement', high, { priority: 1 });
    await queues().producer.enqueue('settlement', middle, { priority: 2 });
    const taken: string[] = [];
    consume(queues(), async ({ submissionIds }) => void taken.push(...submissionIds), {
      concurrency: 1,
    });
    await waitUntil(() => taken.length === 3);
    expect(taken).toEqual([high, middle, low].flatMap(({ submissionIds }) => submissionIds));
  });

  test('with a delay comes after it', async () => {
    const { ids } = collect(queues());
    const [later, now] = [settlementJob(), settlementJob()];
    await queues().producer.enqueue('settlement', later, { delayMs: 300 });
    await queues().producer.enqueue('settlement', now);
    await waitUntil(() => ids.length === 2);
    expect(ids).toEqual([now, later].flatMap(({ submissionIds }) => submissionIds));
  });
});

test('what waits is counted, and what is delayed or done is not', async () => {
  const { producer } = queues();
  await producer.enqueueBulk('settlement', [
    { job: settlementJob() },
    { job: settlementJob(), options: { priority: 1 } },
    { job: settlementJob(), options: { delayMs: 60_000 } },
  ]);
  expect(await producer.countWaiting('settlement')).toBe(2);
  const { ids } = collect(queues());
  await waitUntil(() => ids.length === 2);
  expect(await producer.countWaiting('settlement')).toBe(0);
});

describe('a handler that fails', () => {
  test('is called again where the catalogue says so', async () => {
    let calls = 0;
    consume(queues(), async () => {
      calls += 1;
      if (calls === 1) throw new Error('no');
    });
    await queues().producer.enqueue('settlement', settlementJob());
    expect(await waitUntil(() => calls === 2)).toBe(true);
  });

  test('parks a dispatch job at once, because a job is never dispatched twice', async () => {
    let calls = 0;
    queues().consumers.push(
      createConsumer({
        redisUrl: queues().gate.redisUrl,
        prefix: queues().prefix,
        queue: 'dispatch',
        logger: quiet,
        async handle() {
          calls += 1;
          throw new Error('no');
        },
      }),
    );
    await queues().producer.enqueue(
      'dispatch',
      { ...settlementJob(), replyTo: null },
      { priority: 1 },
    );
    await inspect(queues(), 'dispatch', (queue) =>
      waitUntil(async () => (await queue.getFailedCount()) === 1),
    );
    expect(calls).toBe(1);
  });
});

describe('closing', () => {
  test('waits for what is in hand and takes nothing more', async () => {
    const finish = Promise.withResolvers<void>();
    let started = 0;
    let finished = 0;
    const consumer = consume(
      queues(),
      async () => {
        started += 1;
        await finish.promise;
        finished += 1;
      },
      { concurrency: 1 },
    );
    await queues().producer.enqueueBulk('settlement', [
      { job: settlementJob() },
      { job: settlementJob() },
    ]);
    await waitUntil(() => started === 1);
    const closed = consumer.close();
    finish.resolve();
    await closed;
    expect({ started, finished }).toEqual({ started: 1, finished: 1 });
  });

  test('aborts what takes too long', async () => {
    let aborted = false;
    const consumer = consume(
      queues(),
      (_job, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            resolve();
          });
        }),
      { drainTimeoutMs: 20 },
    );
    await queues().producer.enqueue('settlement', settlementJob());
    await waitUntil(
      async () => (await inspect(queues(), 'settlement', (queue) => queue.getActiveCount())) === 1,
    );
    await consumer.close();
    expect(aborted).toBe(true);
  });

  test('does not wait for a Redis that is away', async () => {
    const { consumer } = collect(queues());
    await waitUntil(() => consumer.isPolling());
    queues().gate.shut();
    const startedMs = performance.now();
    await consumer.close();
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});
