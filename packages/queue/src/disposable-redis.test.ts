import { waitUntil } from '@svc/testkit';
import { expect, describe, test } from 'vitest';
import { QueueUnavailable } from './producer.ts';
import {
  collect,
  consume,
  loseEverything,
  settlementJob,
  useQueues,
} from './queue-harness.fixture.ts';

const queues = useQueues();

describe('Redis is disposable', () => {
  test('an idle consumer works again after FLUSHALL', async () => {
    const { ids, consumer } = collect(queues());
    await waitUntil(() => consumer.isPolling());
    await queues().server.flush();
    await queues().producer.enqueue('settlement', settlementJob());
    expect(await waitUntil(() => ids.length === 1, { timeoutMs: 2_000 })).toBe(true);
  });

  test('a busy consumer works again after FLUSHALL', async () => {
    const finish = Promise.withResolvers<void>();
    let started = 0;
    const done: string[] = [];
    const consumer = consume(
      queues(),
      async ({ submissionIds }) => {
        started += 1;
        if (started === 1) await finish.promise;
        done.push(...submissionIds);
      },
      { concurrency: 1 },
    );
    await queues().producer.enqueueBulk('settlement', [
      { job: settlementJob() },
      { job: settlementJob() },
    ]);
    await waitUntil(() => started === 1);
    await queues().server.flush();
    finish.resolve();
    const [first, second] = [settlementJob(), settlementJob()];
    await queues().producer.enqueue('settlement', first);
    await waitUntil(() => done.length === 2, { timeoutMs: 5_000 });
    await queues().producer.enqueue('settlement', second);
    await waitUntil(() => done.length === 3, { timeoutMs: 5_000 });
    expect(done.slice(1)).toEqual([first, second].flatMap(({ submissionIds }) => submissionIds));
    expect(consumer.isPolling()).toBe(true);
  });

  test('consumer and producer work again after a restart that loses all data', async () => {
    const { ids, consumer } = collect(queues());
    await queues().producer.enqueue('settlement', settlementJob());
    await waitUntil(() => ids.length === 1);
    queues().gate.shut();
    await waitUntil(() => !consumer.isPolling());
    await loseEverything(queues().server);
    queues().gate.open();
    await waitUntil(() =>
      queues()
        .producer.enqueue('settlement', settlementJob())
        .then(() => true),
    );
    await queues().producer.enqueueBulk('settlement', [
      { job: settlementJob() },
      { job: settlementJob() },
    ]);
    await waitUntil(() => ids.length === 4);
    expect(await waitUntil(() => consumer.isPolling())).toBe(true);
  });

  test('a restart during a job loses the job, and the consumer works again', async () => {
    const finish = Promise.withResolvers<void>();
    const ids: string[] = [];
    const consumer = consume(queues(), async ({ submissionIds }) => {
      ids.push(...submissionIds);
      if (ids.length === 1) await finish.promise;
    });
    await queues().producer.enqueue('settlement', settlementJob());
    await waitUntil(() => ids.length === 1);
    queues().gate.shut();
    finish.resolve();
    await waitUntil(() => !consumer.isPolling());
    await loseEverything(queues().server);
    queues().gate.open();
    await waitUntil(() =>
      queues()
        .producer.enqueue('settlement', settlementJob())
        .then(() => true),
    );
    expect(await waitUntil(() => ids.length === 2)).toBe(true);
  });

  test('while Redis is unreachable, a producer fails at once and sends nothing late', async () => {
    const { ids } = collect(queues());
    queues().gate.shut();
    await waitUntil(() => queues().redis.status !== 'ready');
    const startedMs = performance.now();
    await expect(queues().producer.enqueue('settlement', settlementJob())).rejects.toThrow(
      QueueUnavailable,
    );
    await expect(
      queues().producer.enqueueBulk('settlement', [{ job: settlementJob() }]),
    ).rejects.toThrow(QueueUnavailable);
    expect(performance.now() - startedMs).toBeLessThan(500);
    queues().gate.open();
    const sent = settlementJob();
    await waitUntil(() =>
      queues()
        .producer.enqueue('settlement', sent)
        .then(() => true),
    );
    await waitUntil(() => ids.length === 1);
    expect(ids).toEqual(sent.submissionIds);
  });

  test('a consumer that starts without Redis works as soon as Redis is reachable', async () => {
    queues().gate.shut();
    const { ids, consumer } = collect(queues());
    expect(consumer.isPolling()).toBe(false);
    queues().gate.open();
    await waitUntil(() => consumer.isPolling());
    await waitUntil(() =>
      queues()
        .producer.enqueue('settlement', settlementJob())
        .then(() => true),
    );
    expect(await waitUntil(() => ids.length === 1)).toBe(true);
  });
});
