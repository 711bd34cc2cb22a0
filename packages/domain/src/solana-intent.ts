import { creditsMicrosMax } from './credits.ts';

/**
 * Purchase intents of the Solana rail (CONTRACT 8). Amounts of USDC are whole millionths in a bigint,
 * which are also the units of the mint.
 */

/** The most that one intent may cost, in millionths of USDC. */
export const intentAmountUsdcMicrosMax = 1_000_000n * 1_000_000n;
/** The most pending intents of a tenant. */
export const pendingIntentsMax = 100;
export const intentMinutesDefault = 60;
export const graceMinutesDefault = 1440;
export const rpcCallsPerSecondDefault = 10;
export const awaitSecondsDefault = 30;
export const awaitSecondsMax = 60;

export const intentStatuses = ['pending', 'confirmed', 'expired', 'failed'] as const;
export type IntentStatus = (typeof intentStatuses)[number];

/**
 * The price of credits in millionths of USDC. Undefined if it is zero, has more than six decimals or
 * exceeds the limits of an intent.
 */
export function intentAmountUsdcMicros(
  creditsMicros: bigint,
  usdPerCreditMicros: bigint,
): bigint | undefined {
  const product = creditsMicros * usdPerCreditMicros;
  if (product % 1_000_000n !== 0n || creditsMicros > creditsMicrosMax) return undefined;
  const amount = product / 1_000_000n;
  return amount > 0n && amount <= intentAmountUsdcMicrosMax ? amount : undefined;
}

/** The reference of the grant, and of an operator's grant for the same transaction. */
export function solanaGrantReference(signature: string): string {
  return `solana:${signature}`;
}

/** A number from 0 to 1 that spreads the questions of intents that were created together. */
export function referenceSpread(reference: string): number {
  let sum = 0;
  for (const character of reference) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000;
  return sum / 1_000;
}

export interface IntentTimes {
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly graceEndsAtMs: number;
  /** When the watcher asks for the reference by itself, before the expiry and before the grace ends. */
  readonly askAtMs: number;
  readonly askAgainAtMs: number;
}

/** The part of the last tenth in which a question may start. The rest is for its answer. */
const askSpread = 0.8;

/**
 * The times of an intent. Each question falls into the last tenth of its period.
 */
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

/** An intent that a transaction names, as the decision needs it. */
export interface NamedIntent {
  readonly reference: string;
  readonly tokenAccount: string;
  readonly amountUsdcMicros: bigint;
  readonly paidUsdcMicros: bigint;
  /** Pending, or expired within its grace. */
  readonly isOpen: boolean;
}

export interface IncomingPayment {
  readonly tokenAccount: string;
  readonly amountUsdcMicros: bigint;
}

/** The intent that a transaction pays, and by which of its payments. */
export interface PaidIntent<Intent extends NamedIntent> {
  readonly intent: Intent;
  readonly payment: IncomingPayment;
  /** The payment completes the amount of an open intent. */
  readonly completes: boolean;
}

/**
 * One transaction pays one intent: the oldest open one whose missing amount it covers, else the
 * oldest open one. Without an open one the payment is added to the oldest that it names. `named` is
 * in the order of creation. Only the rise of the intent's own token account counts.
 */
export function choosePaidIntent<Intent extends NamedIntent>(
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
