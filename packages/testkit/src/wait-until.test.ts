import { expect, it } from 'vitest';
import { waitUntil } from './wait-until.ts';

it('gives the first value that is there, 0 and empty text included', async () => {
  const answers = [undefined, null, false, 0, 1];
  expect(await waitUntil(() => answers.shift())).toBe(0);
  expect(await waitUntil(async () => '')).toBe('');
});

it('says what it waited for, and what went wrong last', async () => {
  const waiting = waitUntil(() => Promise.reject(new Error('not yet')), {
    what: 'the webhook',
    timeoutMs: 30,
  });
  await expect(waiting).rejects.toMatchObject({
    message: 'waited 30 ms for the webhook',
    cause: new Error('not yet'),
  });
});
