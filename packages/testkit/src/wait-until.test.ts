import { expect, it } from 'vitest';
import { waitUntil } from './wait-until.ts';

it('returns the first value that is present, including 0 and an empty text', async () => {
  const answers = [undefined, null, false, 0, 1];
  expect(await waitUntil(() => answers.shift())).toBe(0);
  expect(await waitUntil(async () => '')).toBe('');
});

it('names the condition and the last error after the timeout', async () => {
  const waiting = waitUntil(() => Promise.reject(new Error('not yet')), {
    what: 'the webhook',
    timeoutMs: 30,
  });
  await expect(waiting).rejects.toMatchObject({
    message: 'gave up after 30 ms of waiting for the webhook',
    cause: new Error('not yet'),
  });
});
