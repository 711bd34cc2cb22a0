import { expect, test } from 'vitest';
import { createLifecycle, openResources } from './lifecycle.ts';
import { createLogger } from './logger.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

test('resources close in reverse order, one after another', async () => {
  const closed: string[] = [];
  const lifecycle = createLifecycle(logger);
  lifecycle.add('first', () => void closed.push('first'));
  lifecycle.add('second', async () => {
    await Promise.resolve();
    closed.push('second');
  });
  await lifecycle.close();
  expect(closed).toEqual(['second', 'first']);
});

test('a resource that fails to close does not keep the others open', async () => {
  const closed: string[] = [];
  const lifecycle = createLifecycle(logger);
  lifecycle.add('first', () => void closed.push('first'));
  lifecycle.add('broken', () => {
    throw new Error('no');
  });
  await lifecycle.close();
  expect(closed).toEqual(['first']);
});

test('close returns at the timeout although a resource never closes', async () => {
  const lifecycle = createLifecycle(logger);
  lifecycle.add('hanging', () => new Promise(() => {}));
  await expect(lifecycle.close(10)).resolves.toBeUndefined();
});

test('a second close has no effect', async () => {
  let count = 0;
  const lifecycle = createLifecycle(logger);
  lifecycle.add('one', () => {
    count += 1;
  });
  await Promise.all([lifecycle.close(), lifecycle.close()]);
  expect(count).toBe(1);
});

test('a start that fails closes what it had opened, and throws its error', async () => {
  const closed: string[] = [];
  const start = openResources(logger, async (lifecycle) => {
    lifecycle.own('first', { close: () => void closed.push('first') });
    lifecycle.own('second', { close: () => void closed.push('second') });
    throw new Error('the third cannot be opened');
  });
  await expect(start).rejects.toThrow('the third cannot be opened');
  expect(closed).toEqual(['second', 'first']);
});

test('a start that succeeds keeps its resources open until it is closed', async () => {
  const closed: string[] = [];
  const running = await openResources(logger, async (lifecycle) => {
    lifecycle.own('first', { close: () => void closed.push('first') });
    return { port: 1 };
  });
  expect({ port: running.port, closed }).toEqual({ port: 1, closed: [] });
  await running.close();
  expect(closed).toEqual(['first']);
});
