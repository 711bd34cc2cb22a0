import { expect, test } from 'vitest';

import { createLifecycle } from './lifecycle.ts';
import { createLogger } from './logger.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

test('what was opened is closed in reverse, each waiting for the one before', async () => {
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

test('one that cannot be closed does not keep the others open', async () => {
  const closed: string[] = [];
  const lifecycle = createLifecycle(logger);
  lifecycle.add('first', () => void closed.push('first'));
  lifecycle.add('broken', () => {
    throw new Error('no');
  });
  await lifecycle.close();
  expect(closed).toEqual(['first']);
});

test('one that never closes is left behind when the time is over', async () => {
  const lifecycle = createLifecycle(logger);
  lifecycle.add('hanging', () => new Promise(() => {}));
  await expect(lifecycle.close(10)).resolves.toBeUndefined();
});

test('closing twice closes once', async () => {
  let count = 0;
  const lifecycle = createLifecycle(logger);
  lifecycle.add('one', () => {
    count += 1;
  });
  await Promise.all([lifecycle.close(), lifecycle.close()]);
  expect(count).toBe(1);
});
