import { type DemoEmployer, startDemoEmployer } from '@svc/local';
import type { Browser, Page } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { accessibilityFaults, launchBrowser, screenshot, watchPage } from './browser.fixture.ts';

let employer: DemoEmployer;
let browser: Browser;

beforeEach(async () => {
  [employer, browser] = await Promise.all([startDemoEmployer(), launchBrowser()]);
});
afterEach(async () => {
  await browser.close();
  await employer.close();
});

test.each([
  ['phone', { width: 390, height: 844 }, 'light'],
  ['desktop', { width: 1280, height: 800 }, 'dark'],
] as const)(
  'at %s width a person can apply and sees it arrive, and no page overflows or fails axe-core',
  async (name, viewport, colorScheme) => {
    const context = await browser.newContext({ viewport, colorScheme });
    const [inbox, page] = [await context.newPage(), await context.newPage()];
    const { origin } = new URL(employer.url);
    const faults = [watchPage(inbox, origin), watchPage(page, origin)];
    const check = async (shownPage: Page, shown: string): Promise<void> => {
      await screenshot(shownPage, `demo-employer-${shown}-${name}`);
      faults.push(await accessibilityFaults(shownPage));
      const overflow = await shownPage.evaluate<number>(
        'document.documentElement.scrollWidth - window.innerWidth',
      );
      expect(overflow).toBeLessThanOrEqual(0);
    };
    await inbox.goto(employer.url);
    await check(inbox, 'before');
    await page.goto(employer.url);
    await page.getByRole('link', { name: 'Look at the empty form' }).click();
    await page.getByLabel('First name').fill('Ada');
    await page.getByLabel('Last name').fill('Lovelace');
    await page.getByLabel('Email').fill('ada@example.com');
    const resume = { name: 'ada.txt', mimeType: 'text/plain', buffer: Buffer.from('Ada') };
    await page.getByLabel('Resume').setInputFiles(resume);
    await page.getByLabel('Where would you like to work?').selectOption('Turin');
    await page.getByLabel('Yes').check();
    await page.getByLabel('I agree').check();
    await check(page, 'form');
    await page.getByRole('button', { name: 'Submit application' }).click();
    await page.getByText('Your confirmation number is').waitFor();
    await check(page, 'thanks');
    await inbox.getByText('Ada Lovelace').waitFor();
    await check(inbox, 'after');
    expect(faults.flat()).toEqual([]);
    await context.close();
  },
);
