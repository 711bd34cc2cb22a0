import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  type GatewayFixture,
  startGateways,
  type TestTenant,
} from '../../services/gateway/src/gateway.fixture.ts';
import { accessibilityFaults, launchBrowser, screenshot, watchPage } from './browser.fixture.ts';

/**
 * The payment page (CONTRACT 8) as the payer sees it. The watcher does not run: the tests change
 * the intents in Postgres.
 */

const recipient = 'mvines9iiHiQTysrwkJjGf2gb9Ex9jXJX8ns3qwf2kN';
let gateways: GatewayFixture;
let tenant: TestTenant;
let browser: Browser;

beforeAll(async () => {
  [gateways, browser] = await Promise.all([
    startGateways({
      SOLANA_RAIL_ENABLED: 'true',
      SOLANA_RPC_URL: 'http://127.0.0.1:9',
      SOLANA_RECIPIENT: recipient,
      SOLANA_USDC_MINT: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    }),
    launchBrowser(),
  ]);
  tenant = await gateways.tenant();
});
afterAll(async () => {
  await browser.close();
  await gateways.close();
});

/** Creates an intent for 5 USDC. */
async function created(): Promise<{ reference: string; expiresAt: string; solanaPayUrl: string }> {
  const answer = await tenant.send({
    method: 'POST',
    target: '/v1/credits/purchase-intents',
    body: '{"credits":500,"token":"USDC"}',
  });
  return JSON.parse(answer.text);
}

const change = (reference: string, assignments: string) =>
  gateways.database.query(`UPDATE purchase_intents SET ${assignments} WHERE reference = $1`, [
    reference,
  ]);

async function open(
  reference: string,
  options: Parameters<Browser['newContext']>[0],
): Promise<{ page: Page; faults: string[]; policy: string }> {
  const baseUrl = gateways.baseUrls[0] ?? '';
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const faults = watchPage(page, baseUrl);
  const answer = await page.goto(`${baseUrl}/pay/${reference}`);
  const policy = answer?.headers()['content-security-policy'] ?? '';
  return { page, faults, policy };
}

test('the page shows the terms and a QR code, and shows the payment by itself', async () => {
  const viewport = { width: 390, height: 844 };
  const { reference, expiresAt, solanaPayUrl } = await created();
  const { page, faults, policy } = await open(reference, { viewport });
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  await page.getByRole('status').getByText('Waiting for the payment.').waitFor();
  for (const shown of ['5 USDC', recipient, reference, expiresAt]) {
    await page.getByText(shown, { exact: true }).first().waitFor();
  }
  expect(await page.getByRole('link', { name: 'open a wallet' }).getAttribute('href')).toBe(
    solanaPayUrl,
  );
  const code = await page.getByRole('img', { name: 'QR code of the payment' }).boundingBox();
  expect(code?.width).toBeGreaterThan(200);
  expect(code?.height).toBeLessThan(400);
  expect(
    await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'),
  ).toBeLessThanOrEqual(0);
  await screenshot(page, 'pay-pending-phone');
  faults.push(...(await accessibilityFaults(page)));
  await change(reference, 'paid_usdc_micros = 2000000');
  await page.getByText('A part of the amount was paid.').waitFor();
  await page.getByText('Pay 3 USDC.').waitFor();
  expect(await page.getByRole('link', { name: 'open a wallet' }).getAttribute('href')).toBe(
    solanaPayUrl.replace('?amount=5&', '?amount=3&'),
  );
  await change(
    reference,
    `status = 'confirmed', transaction_signature = reference, confirmed_at = svc_now(),
     closed_at = svc_now(), paid_usdc_micros = amount_usdc_micros`,
  );
  await page.getByText('Paid. The credits were granted.').waitFor();
  expect(await page.getByRole('img').count()).toBe(0);
  expect(faults).toEqual([]);
});

test.each([
  ['expired', 'Expired. Do not pay now.', ''],
  ['failed', 'The amount was not paid in full in time.', ', paid_usdc_micros = 1'],
  ['failed', 'Paid, but the credits could not be added.', ', paid_usdc_micros = 5000000'],
])(
  'the page of an intent that is %s says "%s" and asks for no payment',
  async (status, shown, paid) => {
    const { reference } = await created();
    const ended = status === 'failed' ? 'asked_again_at = svc_now(), closed_at = svc_now(),' : '';
    await change(reference, `${ended} status = '${status}', asked_at = svc_now()${paid}`);
    const { page, faults } = await open(reference, { colorScheme: 'dark' });
    await page.getByRole('status').getByText(shown).waitFor();
    expect(await page.getByRole('link', { name: 'open a wallet' }).count()).toBe(0);
    expect(await page.getByRole('img').count()).toBe(0);
    faults.push(...(await accessibilityFaults(page)));
    await screenshot(page, `pay-${status}-desktop`);
    expect(faults).toEqual([]);
  },
);
