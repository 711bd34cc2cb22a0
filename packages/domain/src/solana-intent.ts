/**
 * Purchase intents of the Solana rail (CONTRACT 8). An amount of USDC is a bigint of whole
 * millionths, which are also the smallest units of the mint.
 */

export const intentAmountUsdcMicrosMax = 1_000_000n * 1_000_000n;
export const pendingIntentsMax = 100;
export const intentMinutesDefault = 60;
export const graceMinutesDefault = 1440;
export const rpcCallsPerSecondDefault = 10;
export const awaitSecondsDefault = 30;
export const awaitSecondsMax = 60;

export const intentStatuses = ['pending', 'confirmed', 'expired', 'failed'] as const;
export type IntentStatus = (typeof intentStatuses)[number];

/**
 * The price in millionths of USDC. Undefined if it is not a whole number from 1 to
 * `intentAmountUsdcMicrosMax`.
 */
export function intentAmountUsdcMicros(
  creditsMicros: bigint,
  usdPerCreditMicros: bigint,
): bigint | undefined {
  const product = creditsMicros * usdPerCreditMicros;
  if (product % 1_000_000n !== 0n) return undefined;
  const amount = product / 1_000_000n;
  return amount > 0n && amount <= intentAmountUsdcMicrosMax ? amount : undefined;
}

/**
 * The reference of a grant, not of an intent. For one transaction, the watcher and an operator use
 * the same reference, so the credits are added only once.
 */
export function solanaGrantReference(signature: string): string {
  return `solana:${signature}`;
}

/**
 * A number from 0 to 1 that is always the same for one intent. It spreads the RPC requests of the
 * watcher for intents that were created at the same time.
 */
export function referenceSpread(reference: string): number {
  let sum = 0;
  for (const character of reference) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000;
  return sum / 1_000;
}

export interface IntentTimes {
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly graceEndsAtMs: number;
  /**
   * The two times at which the watcher lists the transactions of an unconfirmed intent: shortly
   * before the expiry, and shortly before the grace ends.
   */
  readonly askAtMs: number;
  readonly askAgainAtMs: number;
}

/**
 * The share of the last tenth of the life (or grace) over which the times of different intents are
 * spread. The rest is left for the answer of the RPC server.
 */
const askSpread = 0.8;

export function intentTimes(
  createdAtMs: number,
  minutes: { readonly intent: number; readonly grace: number },
  reference: string,
): IntentTimes {
  const lifeMs = minutes.intent * 60_000;
  const graceMs = minutes.grace * 60_000;
  const expiresAtMs = createdAtMs + lifeMs;
  const graceEndsAtMs = expiresAtMs + graceMs;
  const spread = referenceSpread(reference);
  const before = (endMs: number, periodMs: number) =>
    Math.floor(endMs - (periodMs / 10) * (1 - askSpread * spread));
  return {
    createdAtMs,
    expiresAtMs,
    graceEndsAtMs,
    askAtMs: before(expiresAtMs, lifeMs),
    askAgainAtMs: before(graceEndsAtMs, graceMs),
  };
}

export interface NamedIntent {
  readonly reference: string;
  readonly tokenAccount: string;
  readonly amountUsdcMicros: bigint;
  readonly paidUsdcMicros: bigint;
  /**
   * False if the intent is closed, or if the transaction that names the intent has a block time
   * after the intent's grace. Otherwise true.
   */
  readonly isOpen: boolean;
}

export interface IncomingPayment {
  readonly tokenAccount: string;
  readonly amountUsdcMicros: bigint;
}

export interface PaidIntent<Intent extends NamedIntent> {
  readonly intent: Intent;
  readonly payment: IncomingPayment;
  /** True if the intent is open and this payment covers the unpaid rest of the intent's amount. */
  readonly completes: boolean;
}

/**
 * Chooses the intent that a transaction pays (CONTRACT 8, "Payments"). Undefined if no payment goes
 * to the token account of an intent in `named`.
 */
export function choosePaidIntent<Intent extends NamedIntent>(
  /** The intents that the transaction names. They must be sorted, the oldest first. */
  named: readonly Intent[],
  payments: readonly IncomingPayment[],
): PaidIntent<Intent> | undefined {
  const candidates = named.flatMap((intent) => {
    const payment = payments.find(({ tokenAccount }) => tokenAccount === intent.tokenAccount);
    if (payment === undefined) return [];
    const missing = intent.amountUsdcMicros - intent.paidUsdcMicros;
    return [{ intent, payment, completes: intent.isOpen && payment.amountUsdcMicros >= missing }];
  });
  return (
    candidates.find(({ completes }) => completes) ??
    candidates.find(({ intent }) => intent.isOpen) ??
    candidates[0]
  );
}
