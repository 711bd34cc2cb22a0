import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromiumBinary } from '@svc/local';
import { bareEnvironment, waitUntil } from '@svc/testkit';
import type { Browser } from 'playwright-core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { BrowserReport, BrowserTask } from './browser-process.fixture.ts';
import { filesWith, newStateDir, openTestBrowser, startFormProxy } from './chromium.fixture.ts';
import { CannotStartBrowser } from './launch-error.ts';
import { processesWithCommand } from './process-table.ts';
import { deleteLeftoverProfiles, newProfileDirectory } from './profile-directory.ts';

const url = 'http://form.example.com/';
const canary = 'canary-7c1f93';

async function ownCpuSeconds(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

function remember(text: string): string {
  return `document.cookie = 'a=${text}; max-age=1000'; localStorage.setItem('a', '${text}')`;
}

/** The page runs this function, which keeps the page busy for `ms`. */
function burn(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

const processesOf = (stateDir: string): number[] =>
  processesWithCommand(`--user-data-dir=${stateDir}/`);

/** The seccomp mode of a process. It is 2 if a filter restricts the system calls of the process. */
function seccompOf(pid: number): string | undefined {
  return /^Seccomp:\s+(\d)$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
}

async function startBrowserProcess(
  task: Omit<BrowserTask, 'binary' | 'url' | 'canary'>,
  prefix: readonly string[] = [],
): Promise<{ child: ChildProcess; report: BrowserReport }> {
  const file = path.join(import.meta.dirname, 'browser-process.fixture.ts');
  const [command, ...args] = [...prefix, process.execPath, file];
  const home = path.join(task.stateDir, '..', 'home');
  const child = spawn(command ?? process.execPath, args, {
    env: { ...bareEnvironment(), HOME: home, TMPDIR: home },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const whole: BrowserTask = { ...task, binary: await chromiumBinary(), url, canary };
  child.send(whole);
  const [report]: (BrowserReport | string)[] = await once(child, 'message');
  if (report === undefined || typeof report === 'string') throw new Error(report);
  return { child, report };
}

describe('a browser', () => {
  test('sends all requests to the proxy, those to loopback included', async () => {
    const proxy = await startFormProxy();
    let connections = 0;
    const listener = createServer(() => (connections += 1)).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    onTestFinished(() => void listener.close());
    const address = listener.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { page } = await openTestBrowser({ proxyUrl: proxy.url });
    await page.goto(`http://127.0.0.1:${port}/direct`);
    await page.goto(`http://localhost:${port}/named`);
    expect(proxy.urls()).toEqual([
      `http://127.0.0.1:${port}/direct`,
      `http://localhost:${port}/named`,
    ]);
    expect(connections).toBe(0);
  });

  test('keeps nothing of a page on the disk, and leaves nothing', async () => {
    const proxy = await startFormProxy();
    const stateDir = newStateDir();
    const { page, directory, close } = await openTestBrowser({ proxyUrl: proxy.url, stateDir });
    await page.goto(`${url}?${canary}`);
    await page.fill('input', canary);
    await page.evaluate(remember(canary));
    expect(statSync(path.dirname(directory)).mode & 0o777).toBe(0o700);
    expect(filesWith(canary, stateDir)).toEqual([]);
    await close();
    expect(readdirSync(path.join(stateDir, 'b'))).toEqual([]);
    expect(processesOf(stateDir)).toEqual([]);
  });

  test('is closed by its signal, and whenGone resolves', async () => {
    const proxy = await startFormProxy();
    const stateDir = newStateDir();
    const controller = new AbortController();
    const { signal } = controller;
    const opened = await openTestBrowser({ proxyUrl: proxy.url, stateDir, signal });
    controller.abort();
    expect(await opened.whenGone).toBe('closed');
    await opened.close();
    expect(readdirSync(path.join(stateDir, 'b'))).toEqual([]);
  });

  test('that crashes is gone, and what it used is known', async () => {
    const proxy = await startFormProxy();
    const stateDir = newStateDir();
    const opened = await openTestBrowser({ proxyUrl: proxy.url, stateDir });
    const before = await opened.usage();
    for (const pid of processesOf(stateDir)) process.kill(pid, 'SIGKILL');
    expect(await opened.whenGone).toBe('crashed');
    await opened.close();
    const { cpuSeconds } = await opened.usage();
    expect(cpuSeconds).toBeGreaterThanOrEqual(before.cpuSeconds);
    expect(readdirSync(path.join(stateDir, 'b'))).toEqual([]);
  });

  test('that uses more memory than allowed is killed', async () => {
    const proxy = await startFormProxy();
    const memoryBytesMax = 400e6;
    const opened = await openTestBrowser({ proxyUrl: proxy.url, memoryBytesMax });
    const filling = opened.page.evaluate(() => {
      const kept = Array.from({ length: 10 }, () => new Uint8Array(50e6).fill(1));
      return new Promise((resolve) => setTimeout(() => resolve(kept.length), 60_000));
    });
    await expect(filling).rejects.toThrow('closed');
    expect(await opened.whenGone).toBe('memory');
    expect((await opened.usage()).peakPssBytes).toBeGreaterThan(memoryBytesMax);
  });

  test('shares no cookie, storage or file with another one', async () => {
    const proxy = await startFormProxy();
    const stateDir = newStateDir();
    const open = () => openTestBrowser({ proxyUrl: proxy.url, stateDir });
    const [first, second] = await Promise.all([open(), open()]);
    expect(first.directory).not.toBe(second.directory);
    await first.page.goto(url);
    await first.page.evaluate(remember('1'));
    await first.page.goto(url);
    await second.page.goto(url);
    expect(proxy.cookies()).toEqual([undefined, 'a=1', undefined]);
    expect(await second.page.evaluate("localStorage.getItem('a')")).toBeNull();
    await first.close();
    expect(await second.page.title()).toBe('form');
  });

  test('starts below a long path, and removes its link to it', async () => {
    const proxy = await startFormProxy();
    const stateDir = path.join(newStateDir(), 'long-name'.repeat(12));
    const profileDirectory = newProfileDirectory(stateDir);
    const link = path.join(tmpdir(), `svc-node-${path.basename(profileDirectory)}`);
    const { page, directory, close } = await openTestBrowser({
      proxyUrl: proxy.url,
      profileDirectory,
    });
    expect(readlinkSync(link)).toBe(directory);
    await page.goto(url);
    await close();
    expect(lstatSync(link, { throwIfNoEntry: false })).toBeUndefined();
  });

  test('that does not exist is an error that says so, and leaves nothing', async () => {
    const stateDir = newStateDir();
    const opening = openTestBrowser({
      proxyUrl: 'http://127.0.0.1:1',
      stateDir,
      binary: '/no/browser',
    });
    await expect(opening).rejects.toThrow(CannotStartBrowser);
    await expect(opening).rejects.toThrow('There is no browser at /no/browser.');
    expect(readdirSync(path.join(stateDir, 'b'))).toEqual([]);
  });
});

describe('metering', () => {
  test('counts the CPU of the tree as the browser does, and keeps that of a closed page', async () => {
    const proxy = await startFormProxy();
    const { browser, context, usage } = await openTestBrowser({ proxyUrl: proxy.url });
    const page = await context.newPage();
    await page.goto(url);
    const before = { own: await ownCpuSeconds(browser), metered: await usage() };
    let own = 0;
    // Keeps the page busy until the browser has used 1 s of CPU time. On a busy machine this takes
    // more than 1 s.
    while (own < 1) {
      // oxlint-disable-next-line no-await-in-loop
      await page.evaluate(burn, 500);
      // oxlint-disable-next-line no-await-in-loop
      own = (await ownCpuSeconds(browser)) - before.own;
    }
    const metered = (await usage()).cpuSeconds - before.metered.cpuSeconds;
    expect(Math.abs(metered - own) / own).toBeLessThan(0.05);
    const whole = (await usage()).cpuSeconds;
    await page.close();
    expect((await usage()).cpuSeconds).toBeGreaterThanOrEqual(whole);
  });

  test('adds up memory over time', async () => {
    const proxy = await startFormProxy();
    const startedMs = performance.now();
    const { page, usage } = await openTestBrowser({ proxyUrl: proxy.url });
    const first = await usage();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1_200)));
    const last = await usage();
    const seconds = (performance.now() - startedMs) / 1_000;
    expect(first.peakPssBytes).toBeGreaterThan(50e6);
    expect(last.memoryGbSeconds).toBeGreaterThan(first.memoryGbSeconds + 1.2 * 0.05);
    expect(last.memoryGbSeconds).toBeLessThan((seconds * last.peakPssBytes) / 1e9);
  });
});

test('a page opens no other page', async () => {
  const proxy = await startFormProxy();
  const { page, context } = await openTestBrowser({ proxyUrl: proxy.url });
  expect(await page.evaluate(() => window.open('about:blank') === null)).toBe(true);
  expect(context.pages()).toHaveLength(1);
});

describe('a process that is killed', () => {
  test('takes its browser with it, and its next start deletes the rest', async () => {
    const proxy = await startFormProxy();
    const parent = newStateDir();
    const stateDir = path.join(parent, 'state');
    mkdirSync(path.join(parent, 'home'));
    const task = { isSandboxed: false, proxyUrl: proxy.url, stateDir };
    const { child, report } = await startBrowserProcess(task);
    expect(report.types).toContain('renderer');
    child.kill('SIGKILL');
    await waitUntil(() => !report.pids.some((pid) => existsSync(`/proc/${pid}`)));
    expect(filesWith(canary, parent)).toEqual([]);
    // This process acts as the restarted agent. A restarted agent has the TMPDIR of the killed one.
    vi.stubEnv('TMPDIR', path.join(parent, 'home'));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await deleteLeftoverProfiles(stateDir)).toBe(1);
    expect(readdirSync(path.join(stateDir, 'b'))).toEqual([]);
    expect(readdirSync(path.join(parent, 'home'))).toEqual([]);
  });

  test('is replaced by one that kills a browser that is still there', async () => {
    const proxy = await startFormProxy();
    const stateDir = newStateDir();
    const profileDirectory = newProfileDirectory(stateDir);
    const opened = await openTestBrowser({ proxyUrl: proxy.url, stateDir, profileDirectory });
    expect(await deleteLeftoverProfiles(stateDir)).toBe(1);
    expect(await opened.whenGone).toBe('crashed');
    expect(existsSync(profileDirectory)).toBe(false);
  });
});

describe('the sandbox', () => {
  const asUser = ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--'];

  test('is on for pages of a user without privileges', async () => {
    const proxy = await startFormProxy();
    const parent = newStateDir();
    mkdirSync(path.join(parent, 'home'));
    const task = { isSandboxed: true, proxyUrl: proxy.url, stateDir: path.join(parent, 'state') };
    const { report } = await startBrowserProcess(task, asUser);
    const renderer = report.pids[report.types.indexOf('renderer')] ?? 0;
    expect(seccompOf(renderer)).toBe('2');
  });

  test('is missed with a sentence that says so', async () => {
    const opening = openTestBrowser({ proxyUrl: 'http://127.0.0.1:1', isSandboxed: true });
    await expect(opening).rejects.toThrow('The browser refuses to run as root.');
  });
});
