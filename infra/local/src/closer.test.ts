import { expect, it } from 'vitest';
import { createCloser } from './closer.ts';

it('closes in reverse what was opened, the rest too where one fails', async () => {
  const closer = createCloser();
  const closed: string[] = [];
  await closer.add(async () => void closed.push('database'));
  await closer.add(async () => {
    throw new Error('stuck');
  });
  await closer.add(async () => void closed.push('service'));
  await expect(closer.close()).rejects.toThrow('stuck');
  expect(closed).toStrictEqual(['service', 'database']);
});

it('closes at once what is opened while everything is being closed', async () => {
  const closer = createCloser();
  const closing = closer.close();
  let isClosed = false;
  const late = closer.add(async () => {
    isClosed = true;
  });
  await expect(late).rejects.toThrow('being ended');
  expect(isClosed).toBe(true);
  await closing;
});
