import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newStateDir, openTestBrowser, startFormProxy } from './chromium.fixture.ts';
import { processesWithCommand } from './process-table.ts';
import { whileConnected } from './while-connected.ts';

async function openAndKillLater() {
  const stateDir = newStateDir();
  const { url: proxyUrl } = await startFormProxy();
  const { browser } = await openTestBrowser({ proxyUrl, stateDir });
  const kill = (): void => {
    for (const pid of processesWithCommand(`--user-data-dir=${stateDir}/`)) {
      process.kill(pid, 'SIGKILL');
    }
  };
  return { browser, kill };
}

test('work that never ends fails when its browser is killed, also if it starts afterwards', async () => {
  const { browser, kill } = await openAndKillLater();
  const endless = new Promise<never>(() => {});
  const failed = expect(whileConnected(browser, endless)).rejects.toThrow('the browser has ended');
  kill();
  await failed;
  await expect(whileConnected(browser, endless)).rejects.toThrow('the browser has ended');
});

test('work that ends soon after its browser keeps its result', async () => {
  const { browser, kill } = await openAndKillLater();
  const disconnected = new Promise((resolve) => browser.once('disconnected', resolve));
  const work = async (): Promise<string> => {
    await disconnected;
    await delay(50);
    return 'accepted';
  };
  const result = whileConnected(browser, work(), 10_000);
  kill();
  expect(await result).toBe('accepted');
});
