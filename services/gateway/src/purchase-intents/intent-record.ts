import type { PurchaseIntentRecord } from '@svc/contracts';
import { creditsToNumber, formatCredits } from '@svc/domain';
import type { PurchaseIntent } from '@svc/store';

/** False for a text that cannot be a reference, such as one with U+0000, which Postgres refuses. */
export function isReference(text: string): boolean {
  return /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text);
}

const label = 'Submission service';

/**
 * The Solana Pay URL of an intent, with exactly these parameters in this order (CONTRACT 8). A
 * space is written as `%20`, and the amount has no trailing zeros.
 */
export function solanaPayUrl(intent: PurchaseIntent): string {
  const parameters = [
    ['amount', formatCredits(intent.amountUsdcMicros)],
    ['spl-token', intent.mint],
    ['reference', intent.reference],
    ['label', label],
    ['message', `${formatCredits(intent.creditsMicros)} credits`],
  ] as const;
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return `solana:${intent.recipient}?${query}`;
}

/** The record of an intent on the wire (CONTRACT 8). */
export function intentRecord(intent: PurchaseIntent): PurchaseIntentRecord {
  return {
    reference: intent.reference,
    solanaPayUrl: solanaPayUrl(intent),
    credits: creditsToNumber(intent.creditsMicros),
    amount: creditsToNumber(intent.amountUsdcMicros),
    token: 'USDC',
    status: intent.status,
    paidAmount: creditsToNumber(intent.paidUsdcMicros),
    signature: intent.signature,
    confirmedAt: intent.confirmedAt?.toISOString() ?? null,
    payments: intent.payments.map(({ signature, amountUsdcMicros, at }) => ({
      signature,
      amount: creditsToNumber(amountUsdcMicros),
      at: at.toISOString(),
    })),
    createdAt: intent.createdAt.toISOString(),
    expiresAt: intent.expiresAt.toISOString(),
  };
}
