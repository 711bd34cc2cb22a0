import { openBrowser } from './open-browser.ts';
import { newProfileDirectory } from './profile-directory.ts';

/**
 * The task of a process that opens a browser. A test starts the process to kill it, or to run the
 * browser as another user.
 */
export interface BrowserTask {
  readonly binary: string;
  readonly isSandboxed: boolean;
  readonly proxyUrl: string;
  readonly stateDir: string;
  readonly url: string;
  readonly canary: string;
}

export interface BrowserReport {
  readonly types: readonly string[];
  readonly pids: readonly number[];
}

async function open(task: BrowserTask): Promise<void> {
  const { canary, url, stateDir } = task;
  const profileDirectory = newProfileDirectory(stateDir);
  const { signal } = new AbortController();
  const { page, browser } = await openBrowser({ ...task, profileDirectory, signal });
  await page.goto(url);
  await page.fill('input', canary);
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const report: BrowserReport = {
    types: processInfo.map(({ type }) => type),
    pids: processInfo.map(({ id }) => id),
  };
  process.send?.(report);
}

process.on('message', (task: BrowserTask) => {
  open(task).catch((error: unknown) => process.send?.(String(error)));
});
