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

describe('a job on a queue', () => {
  test('arrives unchanged, and leaves nothing behind', async () => {
    const sent = settlementJob();
    await queues().producer.enqueue('settlement', sent);
    const { ids } = collect(queues());
    await waitUntil(() => ids.length === 1);
    expect(ids).toEqual(sent.submissionIds);
    await inspect(queues(), 'settlement', (queue) =>
      waitUntil(async () => (await queue.getJobCountByTypes('active', 'completed', 'wait')) === 0),
    );
  });

  test('must match its schema when it is sent', async () => {
    const broken = { submissionIds: ['sub_123'] };
    await expect(queues().producer.enqueue('settlement', broken)).rejects.toThrow(InvalidJob);
    await expect(
      queues().producer.enqueueBulk('settlement', [{ job: settlementJob() }, { job: broken }]),
    ).rejects.toThrow(InvalidJob);
  });

  test('must match its schema when it is received, or it is parked without a retry', async () => {
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
    ['is not JSON', '{"submissionIds":'],
    ['nests 100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['is null', 'null'],
  ])('that %s does not affect other jobs', async (_what, data) => {
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

  test('has at most 64 ids: a longer list is split into several jobs', async () => {
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

  test('with a delay is taken after the delay', async () => {
    const { ids } = collect(queues());
    const [later, now] = [settlementJob(), settlementJob()];
    await queues().producer.enqueue('settlement', later, { delayMs: 300 });
    await queues().producer.enqueue('settlement', now);
    await waitUntil(() => ids.length === 2);
    expect(ids).toEqual([now, later].flatMap(({ submissionIds }) => submissionIds));
  });
});

test('waiting jobs are counted; delayed and completed ones are not', async () => {
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
  test('is called again if the catalogue allows a retry', async () => {
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
  test('waits for the jobs in progress and takes no more', async () => {
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

  test('aborts jobs that take too long', async () => {
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

  test('does not wait for an unreachable Redis', async () => {
    const { consumer } = collect(queues());
    await waitUntil(() => consumer.isPolling());
    queues().gate.shut();
    const startedMs = performance.now();
    await consumer.close();
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});
