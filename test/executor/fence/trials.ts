import { startEgressProxy } from '../../../packages/node-agent/src/executors/browser/egress/proxy.ts';
import {
  openSubmitFence,
  type SubmissionSent,
} from '../../../packages/node-agent/src/executors/browser/fence/index.ts';
import {
  applyPath,
  type Cut,
  type CuttingServer,
  movedPath,
  type Protocol,
  startCuttingServer,
} from './cutting-server.ts';
import type { TestBrowser } from './test-browser.ts';

export const senders = {
  form: `document.getElementById('form').submit()`,
  fetch: `void fetch('${applyPath}', { method: 'POST', body: 'name=Ada' })`,
  retryingFetch: `{ const send = () => fetch('${applyPath}', { method: 'POST', body: 'name=Ada' });
    window.done = send().catch(send).catch(send).catch(() => {}); }`,
  doubleFetch: `{ const send = () => fetch('${applyPath}', { method: 'POST', body: 'name=Ada' }).catch(() => {});
    window.done = Promise.all([send(), send(), send()]).then(send); }`,
  keepalive: `void fetch('${applyPath}', { method: 'POST', body: 'name=Ada', keepalive: true })`,
  beacons: `void [1, 2].map(() => navigator.sendBeacon('${applyPath}', 'name=Ada'))`,
  worker: `{ const code = "fetch('" + location.origin + "${applyPath}', { method: 'POST', body: 'name=Ada', mode: 'no-cors' })";
    const url = URL.createObjectURL(new Blob([code + '; ' + code], { type: 'text/javascript' }));
    window.worker = new Worker(url); }`,
  moved: `void fetch('${movedPath}', { method: 'POST', body: 'name=Ada' })`,
} as const;
export type Sender = keyof typeof senders;

/**
 * With `isJournalBroken`, the journal waits up to this time for a request, then throws. A request
 * in this time is a fault, because nothing may be sent before the journal has written.
 */
const earlyRequestMs = 700;

export interface Trial {
  readonly protocol: Protocol;
  readonly sender: Sender;
  readonly cut: Cut;
  readonly isJournalBroken?: boolean;
}

export interface TrialEnd {
  /** Undefined if `fence.submit` threw an error. */
  readonly sent: SubmissionSent | undefined;
  readonly received: readonly string[];
  readonly isCut: boolean;
}

function siteOf(protocol: Protocol): { readonly url: string; readonly key: string } {
  return protocol === 'http1'
    ? { url: 'http://employer.example/', key: 'employer.example:80' }
    : { url: 'https://employer.example/', key: 'employer.example:443' };
}

function isSubmission({ method, url }: { readonly method: string; readonly url: string }): boolean {
  return method === 'POST' && [applyPath, movedPath].includes(new URL(url).pathname);
}

export async function runTrial(browser: TestBrowser, trial: Trial): Promise<TrialEnd> {
  return await withSite(browser, trial.protocol, async ({ page, proxy, server }) => {
    const fence = await openSubmitFence({
      browser: browser.browser,
      page,
      proxy,
      submitting: async () => {
        if (trial.isJournalBroken !== true) return;
        await server.arrivedWithin(earlyRequestMs);
        throw new Error('the disk is full');
      },
      signal: new AbortController().signal,
    });
    await page.goto(siteOf(trial.protocol).url);
    fence.arm(isSubmission);
    server.setCut(trial.cut);
    const activate = async (): Promise<void> => void (await page.evaluate(senders[trial.sender]));
    const sent = await fence.submit(activate).catch(() => undefined);
    // Waits for `window.done`, which some scripts of `senders` set.
    await page.evaluate('window.done').catch(() => {});
    return { sent, received: [...server.received], isCut: server.cuts() > 0 };
  });
}

/**
 * Sends a POST without the fence. Each connection is cut before the answer. Returns the POST
 * requests that arrived, including the browser's repeats.
 */
export async function runUnfenced(browser: TestBrowser, protocol: Protocol): Promise<string[]> {
  return await withSite(browser, protocol, async ({ page, server }) => {
    await page.goto(siteOf(protocol).url);
    server.setCut({ kind: 'answer', bytes: 0 });
    await page.evaluate(
      `fetch('${applyPath}', { method: 'POST', body: 'name=Ada' }).catch(() => {})`,
    );
    return [...server.received];
  });
}

interface Site {
  readonly page: Awaited<ReturnType<TestBrowser['open']>>;
  readonly proxy: Awaited<ReturnType<typeof startEgressProxy>>;
  readonly server: CuttingServer;
}

async function withSite<T>(
  browser: TestBrowser,
  protocol: Protocol,
  work: (site: Site) => Promise<T>,
): Promise<T> {
  const server = await startCuttingServer(protocol);
  const to = { address: '127.0.0.1', port: server.port };
  const proxy = await startEgressProxy({ hostMap: new Map([[siteOf(protocol).key, to]]) });
  const page = await browser.open(proxy.url);
  try {
    return await work({ page, proxy, server });
  } finally {
    await page.context().close();
    await proxy.close();
    await server.close();
  }
}
