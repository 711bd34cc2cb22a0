import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromiumBinary } from '@svc/local';
import { type Browser, chromium, type Page } from 'playwright-core';
import {
  browserFlags,
  proxyBypass,
} from '../../../packages/node-agent/src/executors/browser/chromium/flags.ts';

/** A browser for many trials, with the product's flags and those of the caller. */
export interface TestBrowser {
  readonly browser: Browser;
  open(proxyUrl: string): Promise<Page>;
  close(): Promise<void>;
}

/**
 * Returns the flag with which the browser accepts a certificate. `hash` is the SHA-256 of the
 * certificate's public key, in base64.
 */
export function acceptCertificate(hash: string): string {
  return `--ignore-certificate-errors-spki-list=${hash}`;
}

export async function launchTestBrowser(flags: readonly string[] = []): Promise<TestBrowser> {
  const profileDirectory = mkdtempSync(path.join(tmpdir(), 'svc-fence-'));
  const persistent = await chromium.launchPersistentContext(profileDirectory, {
    executablePath: await chromiumBinary(),
    ignoreDefaultArgs: true,
    args: [...browserFlags({ profileDirectory, isSandboxed: false }), ...flags],
    env: { PATH: process.env['PATH'], HOME: profileDirectory },
  });
  const browser = persistent.browser();
  if (browser === null) throw new Error('Playwright returned no browser for the context');
  return {
    browser,
    async open(proxyUrl) {
      const context = await browser.newContext({
        proxy: { server: proxyUrl, bypass: proxyBypass },
        serviceWorkers: 'block',
      });
      return context.newPage();
    },
    async close() {
      await browser.close();
      rmSync(profileDirectory, { recursive: true, force: true });
    },
  };
}
