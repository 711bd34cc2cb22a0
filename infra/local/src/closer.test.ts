import { expect, it } from 'vitest';
import { createCloser } from './closer.ts';

it('closes resources in reverse order, and closes the rest if one fails', async () => {
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

it('closes a resource at once if it is opened during the shutdown', async () => {
  const closer = createCloser();
  const closing = closer.close();
  let isClosed = false;
  const late = closer.add(async () => {
    isClosed = true;
  });
  await expect(late).rejects.toThrow('shutting down');
  expect(isClosed).toBe(true);
  await closing;
});
