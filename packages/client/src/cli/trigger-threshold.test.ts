import { expect, test } from 'vitest';
import { createClient } from '../client.ts';
import { readCredentials } from './context.ts';
import { trigger } from './trigger.ts';

const settings = { tenantId: 'tnt_1', environment: 'sandbox' };

test.each([
  [0.57, 0],
  [8191.139999, 1000],
  [10_000, 1000],
  [500, 1000],
])('low_balance is caused at a balance of %d and a threshold of %d', async (balance, before) => {
  let lowBalanceThreshold = before;
  let events = 0;
  const change = (text: string) => {
    expect(text).toMatch(/^\{"lowBalanceThreshold":\d+(\.\d{1,6})?\}$/);
    const to: number = JSON.parse(text).lowBalanceThreshold;
    // The condition of CONTRACT 4.
    if (lowBalanceThreshold <= balance && to > balance) events += 1;
    lowBalanceThreshold = to;
  };
  const client = createClient({
    baseUrl: 'http://127.0.0.1:9',
    tenantId: 'tnt_1',
    secret: 'hsk_test_1',
    fetch: async (url, init) => {
      if (new Request(url).url.endsWith('/balance'))
        return Response.json({ balance, available: balance });
      if (typeof init?.body === 'string') change(init.body);
      return Response.json({ ...settings, lowBalanceThreshold });
    },
  });
  const credentials = await readCredentials({
    SVC_BASE_URL: 'http://127.0.0.1:9',
    SVC_TENANT_ID: 'tnt_1',
    SVC_HMAC_SECRET: 'hsk_test_1',
  });
  const context = {
    ...credentials,
    client,
    fetch: globalThis.fetch,
    now: () => 0,
    pause: () => Promise.resolve(),
    write: () => {},
    isJson: false,
    stateDir: '',
  };
  await trigger(context, 'credits.low_balance');
  expect([events, lowBalanceThreshold]).toEqual([1, before]);
});
