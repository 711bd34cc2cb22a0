import { createServer } from 'node:http';
import { waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import { listenForTest } from '../chromium/chromium.fixture.ts';
import { trackRequests } from './in-flight.ts';
import { usePages } from './page.fixture.ts';

const pages = usePages();

test.each([
  [1_000, true],
  [1_001, false],
])('of %i requests in flight, the oldest is still known: %s', async (count, isKnown) => {
  const url = `http://127.0.0.1:${await listenForTest(createServer(() => {}))}`;
  const page = await pages.show('');
  const startedMs = performance.now();
  const inFlight = trackRequests(page);
  let sent = 0;
  let aborted = 0;
  page.on('request', () => (sent += 1));
  page.on('requestfailed', () => (aborted += 1));
  await page.evaluate(`
    var controller = new AbortController();
    const send = (signal) => void fetch('${url}', { mode: 'no-cors', signal }).catch(() => {});
    send();
    for (let n = 1; n < ${count}; n += 1) send(controller.signal);`);
  await waitUntil(() => sent === count);
  await page.evaluate('controller.abort()');
  await waitUntil(() => aborted === count - 1);
  expect(inFlight.isAsking(startedMs)).toBe(isKnown);
});
