import path from 'node:path';
import { chromiumBinary } from '@svc/local';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

/** A real Chromium; it fails where none can be had. Its profile is gone when it is closed. */
export async function launchBrowser(): Promise<Browser> {
  const { file, env } = await chromiumBinary();
  return chromium.launch({
    executablePath: file,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** What axe-core finds wrong with the page as it stands, in words. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate<string[]>(`axe.run(document, { resultTypes: ['violations'] }).then(
    ({ violations }) => violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, any }) => id + ': ' + help + ' at ' + html + ' ' + any.map((one) => one.message))))`);
}

/** What went wrong in a page, and what it asked of others than the service. */
export function watchPage(page: Page, baseUrl: string): string[] {
  const seen: string[] = [];
  page.on('pageerror', (error) => seen.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') seen.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${baseUrl}/`)) seen.push(`asked ${request.url()}`);
  });
  return seen;
}

/** Keeps a picture for people to look at, where `SVC_SCREENSHOTS_DIR` says where. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const dir = process.env['SVC_SCREENSHOTS_DIR'];
  if (dir === undefined) return;
  await page.screenshot({ path: path.join(dir, `${name}.png`), fullPage: true });
}
