import { expect, it } from 'vitest';
import { startStack } from './stack.ts';
import { waitUntil } from './wait-until.ts';

it('shows why a service does not start, and leaves nothing open', async () => {
  const starting = startStack({ env: { LOG_LEVEL: 'loud' } });
  await expect(starting).rejects.toThrow(/ 0 exited with 2 before .*\n.*LOG_LEVEL is not valid/s);
});

it('kills a process and restarts it on the same port', async () => {
  const stack = await startStack({ dispatchers: 0, settlements: 0, webhooks: 0 });
  const isUp = async () => (await fetch(`${stack.gatewayUrl}/ready`)).status;
  await expect(isUp()).resolves.toBeTypeOf('number');
  await stack.kill('gateway');
  await expect(isUp()).rejects.toThrow('fetch failed');
  await stack.restart('gateway');
  expect(await waitUntil(isUp)).toBeTypeOf('number');
  await stack.close();
});
