import { once } from 'node:events';
import http from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type EgressProxy,
  startEgressProxy,
} from '../../packages/node-agent/src/executors/browser/egress/proxy.ts';
import {
  openSubmitFence,
  type SubmitFence,
} from '../../packages/node-agent/src/executors/browser/fence/index.ts';
import { launchTestBrowser, type TestBrowser } from './fence/test-browser.ts';

/** A browser in which each site has its own process, as in a full Chromium. */
let browser: TestBrowser;
beforeAll(async () => {
  browser = await launchTestBrowser(['--site-per-process']);
});
afterAll(() => browser.close());

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const form = '<form id="form" method="post" action="/apply"><input name="a" value="b"></form>';
const pages: Readonly<Record<string, string>> = {
  '/': `${form}<iframe name="other" src="http://other.example/form"></iframe>`,
  '/form': form,
  '/thanks': 'Thank you',
  '/popup': `<script>fetch('/apply', { method: 'POST', body: 'popup' })</script>`,
};
const redirects: Readonly<Record<string, { status: number; location: string }>> = {
  '/apply-303': { status: 303, location: '/thanks' },
  '/apply-elsewhere': { status: 302, location: 'http://other.example/thanks' },
  '/apply-gone': { status: 303, location: 'http://inward.example/thanks' },
};

interface Site {
  readonly page: Awaited<ReturnType<TestBrowser['open']>>;
  readonly fence: SubmitFence;
  readonly proxy: EgressProxy;
  /** The requests that arrived, except GET, each as `METHOD host/path`. */
  readonly posted: readonly string[];
  readonly abort: AbortController;
}

/**
 * Opens a page with a frame of another host, and arms the fence. Until `fence.submit` is called,
 * the fence aborts each POST with `/apply` in its URL.
 */
async function openSite(): Promise<Site> {
  const posted: string[] = [];
  const server = http.createServer(({ method, url = '/', headers }, response) => {
    if (method !== 'GET') posted.push(`${method} ${headers.host}${url}`);
    const redirect = redirects[url];
    if (redirect !== undefined) {
      response.writeHead(redirect.status, { location: redirect.location }).end();
    } else {
      response.setHeader('content-type', 'text/html').end(pages[url] ?? 'received');
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const to = { address: '127.0.0.1', port };
  const proxy = await startEgressProxy({
    hostMap: new Map([
      ['site.example:80', to],
      ['other.example:80', to],
    ]),
    lookUp: () => Promise.resolve(['10.0.0.1']),
  });
  const page = await browser.open(proxy.url);
  cleanups.push(async () => {
    await page.context().close();
    await proxy.close();
    await new Promise((resolve) => server.close(resolve));
  });
  const abort = new AbortController();
  const fence = await openSubmitFence({
    browser: browser.browser,
    page,
    proxy,
    submitting: () => Promise.resolve(),
    signal: abort.signal,
  });
  await page.goto('http://site.example/');
  fence.arm(({ method, url }) => method === 'POST' && url.includes('/apply'));
  return { page, fence, proxy, posted, abort };
}

function postTo(path: string): string {
  return `fetch('${path}', { method: 'POST' }).then(() => 'sent', () => 'aborted')`;
}

test('a form in a frame of another process is submitted once', async () => {
  const { page, fence, posted } = await openSite();
  const frame = page.frame('other');
  const code = `document.getElementById('form').submit()`;
  const sent = await fence.submit(async () => void (await frame?.evaluate(code)));
  expect(sent).toMatchObject({ kind: 'answered', url: 'http://other.example/apply' });
  expect(posted).toEqual(['POST other.example/apply']);
});

test('nothing that matches leaves before the submission, and other requests do', async () => {
  const { page, posted } = await openSite();
  expect(await page.evaluate(postTo('/apply'))).toBe('aborted');
  expect(await page.evaluate(postTo('/autosave'))).toBe('sent');
  expect(posted).toEqual(['POST site.example/autosave']);
});

test.each([
  ['/apply-303', 'http://site.example/thanks', 'Thank you'],
  ['/apply-elsewhere', 'http://other.example/thanks', 'Thank you'],
  ['/apply-gone', 'http://inward.example/thanks', undefined],
])('a redirect of %s is followed by GET, and its end is the answer', async (path, url, text) => {
  const { page, fence, posted } = await openSite();
  const code = `{ const form = document.getElementById('form'); form.action = '${path}'; form.submit(); }`;
  const sent = await fence.submit(() => page.evaluate(code));
  expect(sent).toMatchObject({ kind: 'answered', url });
  expect(sent.kind === 'answered' ? sent.bodyText : '').toBe(text);
  expect(posted).toEqual([`POST site.example${path}`]);
});

const outsiders: Readonly<Record<string, string>> = {
  'a popup': `window.open('http://site.example/popup')`,
  'a popup without an opener': `window.open('http://site.example/popup', '_blank', 'noopener')`,
  'a form that opens a window': `{ const form = document.getElementById('form');
    form.target = '_blank'; form.submit(); }`,
  'a shared worker': `new SharedWorker(URL.createObjectURL(new Blob(
    ["fetch('http://site.example/apply', { method: 'POST', body: 'x', mode: 'no-cors' })"])))`,
};

test.each(Object.entries(outsiders))('%s sends nothing past the gate', async (_name, code) => {
  const { page, fence, posted } = await openSite();
  const sent = await fence.submit(() => page.evaluate(`try { ${code} } catch {}`));
  expect([sent, posted]).toEqual([{ kind: 'nothing_sent' }, []]);
});

test('work that is stopped while the page decides sends nothing any more', async () => {
  const { page, fence, posted, abort } = await openSite();
  const sent = await fence.submit(() => {
    abort.abort();
    return Promise.resolve();
  });
  expect(sent).toEqual({ kind: 'nothing_sent' });
  expect(await page.evaluate(postTo('/apply'))).toBe('aborted');
  expect(posted).toEqual([]);
});

test('a fence is used once, and only after it is armed', async () => {
  const { page, fence } = await openSite();
  await fence.submit(() => page.evaluate(`void fetch('/apply', { method: 'POST' })`));
  await expect(fence.submit(() => Promise.resolve())).rejects.toThrow('may be called only once');
  expect(() => fence.arm(() => true)).toThrow('already activated or closed');
});
