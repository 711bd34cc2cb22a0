import { formatCredits, type RatePolicy } from '@svc/domain';
import { type PurchaseIntent, readPurchaseIntent } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { Html, html } from '../documentation/html.ts';
import { personalPage } from '../documentation/page.ts';
import { type Answer, notFound, rateLimited } from '../http/answer.ts';
import type { OpenEndpoint, OpenRequest } from '../http/endpoint.ts';
import { isReference, solanaPayUrl } from './intent-record.ts';
import { qrCodeSvg } from './qr-code.ts';

/**
 * The rate limit of the pay pages for one group of addresses. It suffices for ten open pages,
 * because the browser loads each of them again every `refreshSeconds`.
 */
const pagePolicy: RatePolicy = { perSecond: 2, burst: 20 };
const refreshSeconds = 5;

/**
 * `GET /pay/:reference` (CONTRACT 8): the page for the payer. It has no script. The browser loads
 * it again every `refreshSeconds` until the intent is closed.
 */
export function payPageEndpoints(deps: GatewayDeps): readonly OpenEndpoint[] {
  const handle = (request: OpenRequest): Promise<Answer> => payPage(deps, request);
  return [{ access: 'open', method: 'get', path: '/pay/:reference', handle }];
}

async function payPage(
  deps: GatewayDeps,
  { id: reference, addressGroup }: OpenRequest,
): Promise<Answer> {
  if (deps.rail === null || !isReference(reference)) return notFound;
  const decision = await deps.limiter.take(`pay:${addressGroup}`, pagePolicy);
  if (!decision.allowed) {
    return rateLimited(
      decision.retryInMs,
      'Too many requests from this address. Load the page again later.',
    );
  }
  const intent = await readPurchaseIntent(deps.store, { reference });
  if (intent === null) return notFound;
  const isPayable = intent.status === 'pending' && !isPaidInFull(intent);
  return personalPage({
    status: 200,
    title: 'Pay with USDC',
    content: html`<h1>Pay with USDC</h1>
      <p role="status">${statusText(intent)}</p>
      ${isPayable ? await howToPay(intent) : html``} ${facts(intent)}`,
    headers: intent.isClosed ? {} : { refresh: String(refreshSeconds) },
  });
}

function isPaidInFull({ paidUsdcMicros, amountUsdcMicros }: PurchaseIntent): boolean {
  return paidUsdcMicros >= amountUsdcMicros;
}

function statusText(intent: PurchaseIntent): string {
  // A full payment grants no credits if the balance would then exceed its limit, or if the payment
  // came or was found too late.
  if (intent.status !== 'confirmed' && isPaidInFull(intent)) {
    return 'Paid, but the credits could not be added. Contact the service.';
  }
  switch (intent.status) {
    case 'pending':
      return intent.paidUsdcMicros === 0n
        ? 'Waiting for the payment.'
        : 'A part of the amount was paid. Waiting for the rest.';
    case 'confirmed':
      return 'Paid. The credits were granted.';
    case 'expired':
      return intent.isClosed
        ? 'Expired. Do not pay. If you have paid, contact the service.'
        : 'Expired. Do not pay now. A payment that you have already sent may still count.';
    case 'failed':
      return 'The amount was not paid in full in time. Contact the service.';
  }
}

async function howToPay(intent: PurchaseIntent): Promise<Html> {
  const missing = intent.amountUsdcMicros - intent.paidUsdcMicros;
  const url = solanaPayUrl({ ...intent, amountUsdcMicros: missing });
  return html`<p>
      Scan the code with a wallet for Solana, or <a href="${url}">open a wallet on this device</a>.
      Pay ${formatCredits(missing)} USDC. Only a payment by this code or link is recognised.
    </p>
    <figure role="img" aria-label="QR code of the payment">
      ${new Html(await qrCodeSvg(url))}
    </figure>`;
}

function facts(intent: PurchaseIntent): Html {
  const rows = [
    ['Credits', formatCredits(intent.creditsMicros)],
    ['Amount', `${formatCredits(intent.amountUsdcMicros)} USDC`],
    ['Paid', `${formatCredits(intent.paidUsdcMicros)} USDC`],
    ['Address', intent.recipient],
    ['Token', intent.mint],
    ['Reference', intent.reference],
    ['Expires', intent.expiresAt.toISOString()],
  ] as const;
  return html`<dl>
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd><code>${value}</code></dd>`,
    )}
  </dl>`;
}
