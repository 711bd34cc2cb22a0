import { chromiumBinary } from '@svc/local';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type Adapter, generic } from '../adapters/index.ts';
import { readProfile } from '../planner/index.ts';
import { payloadWith } from '../planner/planner.fixture.ts';
import { fillForm, type FillResult } from './fill-form.ts';
import { type InFlight, trackRequests } from './in-flight.ts';
import { type ReadForm, readForm } from './read-form.ts';

const flights = new WeakMap<Page, InFlight>();

export function flightsOf(page: Page): InFlight {
  return flights.get(page) ?? trackRequests(page);
}

export interface TestPages {
  show(html: string): Promise<Page>;
}

/** The browser has no sandbox, because tests may run as root. */
export function usePages(): TestPages {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: await chromiumBinary(),
      args: ['--no-sandbox'],
    });
  });
  afterAll(async () => await browser.close());
  return {
    async show(html) {
      const page = await browser.newPage();
      onTestFinished(async () => await page.close());
      flights.set(page, trackRequests(page));
      // From the next document on, the page has the watch of its timers.
      await page.goto('about:blank');
      await page.setContent(`<!doctype html><title>form</title>${html}`);
      return page;
    },
  };
}

export async function readOf(page: Page, adapter: Adapter = generic): Promise<ReadForm> {
  const form = await readForm({ frame: page.mainFrame(), adapter });
  if (form === undefined) throw new Error('The page has no form.');
  return form;
}

export async function fillOf(
  page: Page,
  applicantProfile: unknown,
  adapter: Adapter = generic,
): Promise<FillResult & { readonly actions: number }> {
  const reading = readProfile(payloadWith(applicantProfile));
  if (reading.kind === 'invalid') throw new Error(reading.message);
  const bytes = Buffer.from('a resume');
  let actions = 0;
  const result = await fillForm(
    { frame: page.mainFrame(), adapter },
    {
      profile: reading.profile,
      files: new Map([['resume', { name: 'cv.pdf', contentType: 'application/pdf', bytes }]]),
      signal: new AbortController().signal,
      inFlight: flightsOf(page),
      onAction: () => (actions += 1),
      onFilled: () => (actions += 1),
    },
  );
  return { ...result, actions };
}
