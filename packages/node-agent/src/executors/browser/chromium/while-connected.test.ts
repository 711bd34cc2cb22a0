import { waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import { newStateDir, openTestBrowser, startFormProxy } from './chromium.fixture.ts';
import { processesWithCommand } from './process-table.ts';
import { whileConnected } from './while-connected.ts';

async function openToKill() {
  const stateDir = newStateDir();
  const { url: proxyUrl } = await startFormProxy();
  const { browser } = await openTestBrowser({ proxyUrl, stateDir });
  const kill = (): void => {
    const pids = processesWithCommand(`--user-data-dir=${stateDir}/`);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
  };
  return { browser, kill };
}

test('work that never ends fails when its browser is killed, also if it starts afterwards', async () => {
  const { browser, kill } = await openToKill();
  const endless = new Promise<never>(() => {});
  const failed = whileConnected(browser, endless).catch(String);
  kill();
  expect(await failed).toContain('the browser has ended');
  await expect(whileConnected(browser, endless)).rejects.toThrow('the browser has ended');
});

test('work that ends soon after its browser keeps its result', async () => {
  const { browser, kill } = await openToKill();
  const disconnected = new Promise((resolve) => browser.once('disconnected', resolve));
  const work = async (): Promise<string> => {
    await disconnected;
    let polls = 0;
    await waitUntil(() => (polls += 1) > 2);
    return 'accepted';
  };
  const result = whileConnected(browser, work(), 10_000);
  kill();
  expect(await result).toBe('accepted');
});
