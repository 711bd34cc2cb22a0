import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from '@svc/local';
import { startStack, type TestStack } from '@svc/testkit';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { send, signedBy } from '../support/wire.ts';
import { accessibilityFaults, launchBrowser, screenshot, watchPage } from './browser.fixture.ts';

/**
 * CONTRACT 5: `GET /signup` and pages under `/docs`, as a person uses them in a browser, with and
 * without scripts.
 */

const run = promisify(execFile);
const phone = { width: 390, height: 844 };
const desktop = { width: 1280, height: 800 };
let stack: TestStack;
let browser: Browser;

beforeAll(async () => {
  [stack, browser] = await Promise.all([
    startStack({ nodes: 4, env: { SIGNUP_PER_HOUR: '100' } }),
    launchBrowser(),
  ]);
});
afterAll(async () => {
  await browser.close();
  await stack.close();
});

async function open(
  options: BrowserContextOptions = {},
  target = '/signup',
): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext({ viewport: desktop, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const faults = watchPage(page, stack.gatewayUrl);
  await page.goto(`${stack.gatewayUrl}${target}`);
  return { page, faults };
}

async function signUp(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name of your organisation').fill(name);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('heading', { name: 'Your sandbox tenant' }).waitFor();
}

async function copied(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: `Copy ${name}` }).click();
  await page
    .getByRole('status')
    .filter({ hasText: `Copied: ${name}.` })
    .waitFor();
  return page.evaluate<string>('navigator.clipboard.readText()');
}

async function paste(text: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', text], { env: { PATH: process.env['PATH'] } });
  return stdout;
}

const isScrolledSideways = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');

test('fill in, submit, copy, paste: the first submission is answered 201, pasted again 200', async () => {
  const { page, faults } = await open();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await signUp(page, 'Ana & Söhne <Welding>');
  const tenantId = await copied(page, 'Tenant id');
  expect(tenantId).toMatch(/^tnt_[0-9a-z]{26}$/);
  expect(await copied(page, 'HMAC secret')).toMatch(/^hsk_test_[\w-]{43}$/);
  expect(await copied(page, 'Webhook secret')).toMatch(/^whsec_[\w+/]{43}=$/);
  const command = await copied(page, 'the request');
  expect(await paste(command)).toMatch(/^HTTP\/1.1 201 /);
  expect(await paste(command)).toMatch(/^HTTP\/1.1 200 [^]*"idempotent":true/);
  const [row] = await stack.query<{ name: string }>('SELECT name FROM tenants');
  expect(row).toEqual({ name: 'Ana & Söhne <Welding>' });
  expect(faults).toEqual([]);
});

test("the webhook endpoint that it shows runs as pasted, and accepts only the service's webhooks", async () => {
  const { page } = await open();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await signUp(page, 'Receiver');
  const tenant = {
    tenantId: await copied(page, 'Tenant id'),
    hmacSecret: await copied(page, 'HMAC secret'),
    webhookSecret: await copied(page, 'Webhook secret'),
  };
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-webhook-'));
  const file = path.join(dir, 'webhook.mjs');
  writeFileSync(file, await copied(page, 'the webhook receiver'));
  const port = await freePort();
  const endpoint = spawn(process.execPath, [file], { env: { PORT: `${port}` } });
  onTestFinished(async () => {
    endpoint.kill('SIGKILL');
    await once(endpoint, 'close');
    rmSync(dir, { recursive: true });
  });
  const said = createInterface(endpoint.stdout);
  const patch = { method: 'PATCH', target: '/v1/settings' };
  const body = { webhookUrl: `http://127.0.0.1:${port}/` };
  expect((await send(stack.gatewayUrl, signedBy(tenant, { ...patch, body }))).status).toBe(200);
  const ping = { method: 'POST', target: '/v1/webhooks/test' };
  expect((await send(stack.gatewayUrl, signedBy(tenant, ping))).status).toBe(202);
  const [line] = await once(said, 'line');
  expect(line).toContain('verified');
  const forged = request({ host: '127.0.0.1', port, method: 'POST' }).end('{}');
  const [answer] = await once(forged, 'response');
  answer.resume();
  expect(answer.statusCode).toBe(401);
});

test('without scripts the page is the same except for the buttons', async () => {
  const { page, faults } = await open({ javaScriptEnabled: false, viewport: phone });
  await screenshot(page, 'signup-phone-no-scripts');
  await signUp(page, 'No scripts');
  await screenshot(page, 'signed-up-phone-no-scripts');
  expect(await page.getByRole('button', { name: /Copy/ }).count()).toBe(0);
  expect(await page.getByText(/^tnt_/).count()).toBe(1);
  const command = await page.getByRole('region', { name: 'the request' }).textContent();
  expect(await paste(command ?? '')).toMatch(/^HTTP\/1.1 201 /);
  expect(faults).toEqual([]);
});

test.each([
  { name: 'phone', viewport: phone, colorScheme: 'light' },
  { name: 'desktop', viewport: desktop, colorScheme: 'light' },
  { name: 'desktop-dark', viewport: desktop, colorScheme: 'dark' },
] as const)('at $name width axe-core finds no violation, and nothing overflows', async (view) => {
  const { page, faults } = await open(view);
  expect(await accessibilityFaults(page)).toEqual([]);
  await screenshot(page, `signup-${view.name}`);
  await page.getByLabel('Webhook URL').fill('ftp://example.com/');
  await page.getByLabel('Name of your organisation').fill('Ana');
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('alert').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.getByLabel('Name of your organisation').inputValue()).toBe('Ana');
  await screenshot(page, `refused-${view.name}`);
  await page.getByLabel('Webhook URL').fill('');
  await signUp(page, 'Ana');
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await isScrolledSideways(page)).toBe(false);
  await screenshot(page, `signed-up-${view.name}`);
  // The browser writes to its console that the service answered the refused sign-up with 422.
  expect(faults).toEqual([expect.stringContaining('422')]);
});

test.each([
  { target: '/docs/guides/quick-start', viewport: phone, colorScheme: 'light' },
  { target: '/docs/guides/webhooks', viewport: desktop, colorScheme: 'dark' },
  { target: '/docs/errors', viewport: desktop, colorScheme: 'light' },
] as const)(
  'axe-core finds no violation in $target, and nothing overflows',
  async ({ target, ...view }) => {
    const { page, faults } = await open(view, target);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await isScrolledSideways(page)).toBe(false);
    await screenshot(page, `${target.replaceAll('/', '-')}-${view.colorScheme}`);
    expect(faults).toEqual([]);
  },
);

test('a guide shows the code of one language, chosen with the keyboard and without scripts', async () => {
  const { page } = await open({ javaScriptEnabled: false }, '/docs/guides/quick-start');
  const shown = async () => [
    await page.getByText('call POST /v1/submissions').isVisible(),
    await page.getByText('await client.submit(').isVisible(),
    await page.getByText('created = client.submit(').isVisible(),
  ];
  expect(await shown()).toEqual([true, false, false]);
  await page.getByRole('radio', { name: 'curl' }).focus();
  await page.keyboard.press('ArrowRight');
  expect(await shown()).toEqual([false, true, false]);
  await page.getByText('Python', { exact: true }).click();
  expect(await shown()).toEqual([false, false, true]);
});

test('the page can be used with a keyboard alone', async () => {
  const { page } = await open();
  const focused = () => page.evaluate<string>('document.activeElement.id');
  while ((await focused()) !== 'name') await page.keyboard.press('Tab');
  await page.keyboard.type('Keyboard');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Your sandbox tenant' }).waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const label = () => page.evaluate<string>(`document.activeElement.getAttribute('aria-label')`);
  while ((await label()) !== 'Copy HMAC secret') await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.getByRole('status').filter({ hasText: 'Copied: HMAC secret.' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^hsk_test_/);
});
