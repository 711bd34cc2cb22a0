import { expect, it } from 'vitest';
import { runBrowserDemo } from './browser-demo.ts';
import { createCloser } from './closer.ts';
import { pushedEvents } from './demo-events.ts';
import { createNodeWatch } from './node-watch.ts';
import { createWebhookReceiver } from './webhook-receiver.ts';

it('opens no employer without a browser, and says how to get one', async () => {
  const printed: string[] = [];
  const receiver = await createWebhookReceiver();
  const demo = {
    gatewayUrl: 'http://127.0.0.1:1',
    world: {
      tenant: { tenantId: '', hmacSecret: '', webhookSecret: '' },
      webhookPort: receiver.port,
      nodes: [],
      receiver,
    },
    events: pushedEvents(receiver, ''),
    nodeWatch: createNodeWatch(),
    env: {},
    progress: {
      step: () => Promise.reject(new Error('no step is taken')),
      print: (text: string) => void printed.push(text),
    },
  };
  const place = { link: '', dir: '', logsDir: '', closer: createCloser() };
  expect(await runBrowserDemo(demo, place)).toBeUndefined();
  expect(printed).toEqual([expect.stringContaining('apt-get install chromium-headless-shell')]);
  await receiver.close();
});
