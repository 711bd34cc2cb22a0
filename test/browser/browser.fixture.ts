import path from 'node:path';
import { chromiumBinary } from '@svc/local';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

/**
 * Starts the browser of `chromiumBinary`. Throws if there is none and the download fails. Closing
 * the browser removes its profile.
 */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: await chromiumBinary(),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate<string[]>(`axe.run(document, { resultTypes: ['violations'] }).then(
    ({ violations }) => violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, any }) => id + ': ' + help + ' at ' + html + ' ' + any.map((one) => one.message))))`);
}

/** Returns an array that collects the page's errors, and its requests outside of `baseUrl`. */
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

/** If `SVC_SCREENSHOTS_DIR` is set, saves a screenshot there for people to look at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const dir = process.env['SVC_SCREENSHOTS_DIR'];
  if (dir === undefined) return;
  await page.screenshot({ path: path.join(dir, `${name}.png`), fullPage: true });
}
