import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';

export type Screenshot = (name: string) => Promise<void>;

const screenshotMsMax = 5_000;

/**
 * Returns a function that saves a screenshot in `debugDir`. The function does nothing if `debugDir`
 * is undefined, and never rejects.
 */
export function screenshotsOf(
  page: Page,
  submissionId: string,
  debugDir: string | undefined,
): Screenshot {
  if (debugDir === undefined) return async () => {};
  return async (name) => {
    const file = path.join(debugDir, `${submissionId}-${name}.png`);
    try {
      // By default, Playwright hides the caret with a style that it adds to the page. `initial`
      // prevents this.
      const options = { fullPage: true, caret: 'initial', timeout: screenshotMsMax } as const;
      // A screenshot shows personal data, so only the system user of the agent may read it.
      await writeFile(file, await page.screenshot(options), { mode: 0o600 });
    } catch {
      // A failed screenshot is ignored. For example, the page or the directory may be gone.
    }
  };
}
