import { intentTimes, type IntentStatus, pendingIntentsMax } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { lockAccount } from '../ledger/account.ts';

/** The terms of a new purchase intent (CONTRACT 8). They never change. */
export interface NewIntent {
  /** A fresh public key in base58. */
  readonly reference: string;
  readonly tenantId: string;
  readonly creditsMicros: bigint;
  readonly amountUsdcMicros: bigint;
  readonly usdPerCreditMicros: bigint;
  readonly recipient: string;
  readonly tokenAccount: string;
  readonly mint: string;
  /** The life and the grace, in minutes. */
  readonly minutes: { readonly intent: number; readonly grace: number };
}

interface IntentPayment {
  readonly signature: string;
  readonly amountUsdcMicros: bigint;
  /** The time when the service recorded the payment. */
  readonly at: Date;
  /**
   * True if a grant names this payment. The watcher's grant names only the payment that completed
   * the intent, not the earlier payments.
   */
  readonly isGranted: boolean;
}

export interface PurchaseIntent {
  readonly reference: string;
  readonly tenantId: string;
  readonly creditsMicros: bigint;
  readonly amountUsdcMicros: bigint;
  readonly paidUsdcMicros: bigint;
  readonly status: IntentStatus;
  readonly signature: string | null;
  readonly recipient: string;
  readonly tokenAccount: string;
  readonly mint: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly graceEndsAt: Date;
  readonly confirmedAt: Date | null;
  /** True after the intent was confirmed, or was closed after its grace. */
  readonly isClosed: boolean;
  /** The first `paymentsShownMax` payments, in the order in which they were recorded. */
  readonly payments: readonly IntentPayment[];
}

export type IntentCreation =
  | { readonly kind: 'created'; readonly intent: PurchaseIntent }
  /**
   * The tenant has `pendingIntentsMax` pending intents whose `expiresAt` is in the future. The
   * first of them expires in `retryInMs`.
   */
  | { readonly kind: 'too_many'; readonly retryInMs: number };

/**
 * Creates an intent, unless the outcome is `too_many`. The lock of the tenant's account keeps
 * concurrent creations within `pendingIntentsMax`.
 */
export function createPurchaseIntent(store: Store, intent: NewIntent): Promise<IntentCreation> {
  return store.transaction(async (query): Promise<IntentCreation> => {
    await lockAccount(query, intent.tenantId);
    const [counted] = await query<{ pending: bigint; retry_in_ms: number | null; now: Date }>(
      `SELECT count(*) AS pending, svc_now() AS now,
         (extract(epoch FROM min(expires_at) - svc_now()) * 1000)::float8 AS retry_in_ms
       FROM purchase_intents
       WHERE tenant_id = $1::uuid AND status = 'pending' AND expires_at > svc_now()`,
      [intent.tenantId],
    );
    if (counted === undefined) throw new Error('the count of pending intents returned no row');
    if (counted.pending >= BigInt(pendingIntentsMax)) {
      return { kind: 'too_many', retryInMs: counted.retry_in_ms ?? 0 };
    }
    await insertIntent(query, intent, counted.now);
    const created = await readIntents(query, [intent.reference]);
    const [first] = created;
    if (first === undefined) throw new Error('the inserted intent was not found');
    return { kind: 'created', intent: first };
  });
}

async function insertIntent(query: Query, intent: NewIntent, now: Date): Promise<void> {
  const times = intentTimes(now.getTime(), intent.minutes, intent.reference);
  await query(
    `INSERT INTO purchase_intents (reference, tenant_id, credits_micros, amount_usdc_micros, status,
       recipient, token_account, mint, usd_per_credit_micros, created_at, expires_at, grace_ends_at,
       ask_at, ask_again_at)
     VALUES ($1, $2::uuid, $3, $4, 'pending', $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      intent.reference,
      intent.tenantId,
      intent.creditsMicros,
      intent.amountUsdcMicros,
      intent.recipient,
      intent.tokenAccount,
      intent.mint,
      intent.usdPerCreditMicros,
      now,
      new Date(times.expiresAtMs),
      new Date(times.graceEndsAtMs),
      new Date(times.askAtMs),
      new Date(times.askAgainAtMs),
    ],
  );
}

/**
 * Reads an intent. Null if the reference is unknown. If `tenantId` is given, also null for an
 * intent of another tenant.
 */
export async function readPurchaseIntent(
  store: Store,
  { reference, tenantId }: { readonly reference: string; readonly tenantId?: string },
): Promise<PurchaseIntent | null> {
  const [intent] = await readIntents(store.query, [reference]);
  if (intent === undefined) return null;
  return tenantId === undefined || intent.tenantId === tenantId ? intent : null;
}

/** The statuses of these intents, by reference. Unknown references are left out. */
export async function readIntentStatuses(
  store: Store,
  references: readonly string[],
): Promise<Map<string, IntentStatus>> {
  const rows = await store.query<{ reference: string; status: IntentStatus }>(
    'SELECT reference, status FROM purchase_intents WHERE reference = ANY($1::text[])',
    [references],
  );
  return new Map(rows.map(({ reference, status }) => [reference, status]));
}

export interface IntentRow {
  readonly reference: string;
  readonly tenant_id: string;
  readonly credits_micros: bigint;
  readonly amount_usdc_micros: bigint;
  readonly paid_usdc_micros: bigint;
  readonly status: IntentStatus;
  readonly transaction_signature: string | null;
  readonly recipient: string;
  readonly token_account: string;
  readonly mint: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly grace_ends_at: Date;
  readonly confirmed_at: Date | null;
  readonly closed_at: Date | null;
}

interface PaymentRow {
  readonly reference: string;
  readonly signature: string;
  readonly amount_usdc_micros: bigint;
  readonly created_at: Date;
  readonly is_granted: boolean;
}

async function readIntents(query: Query, references: readonly string[]): Promise<PurchaseIntent[]> {
  const rows = await query<IntentRow>(
    'SELECT * FROM purchase_intents WHERE reference = ANY($1::text[])',
    [references],
  );
  return withPayments(query, rows);
}

/**
 * The most payments of one intent that are shown. Each payment costs its sender a fee, so more are
 * not expected.
 */
const paymentsShownMax = 1_000;

export async function withPayments(
  query: Query,
  rows: readonly IntentRow[],
): Promise<PurchaseIntent[]> {
  const payments = await query<PaymentRow>(
    `SELECT p.* FROM unnest($1::text[]) AS named (reference), LATERAL (
       SELECT paid.*, EXISTS (
           SELECT FROM purchases WHERE reference = 'solana:' || paid.signature) AS is_granted
       FROM solana_payments paid
       WHERE paid.reference = named.reference ORDER BY created_at, slot LIMIT $2) p`,
    [rows.map(({ reference }) => reference), paymentsShownMax],
  );
  const byReference = Map.groupBy(payments, ({ reference }) => reference);
  return rows.map((row) => ({
    reference: row.reference,
    tenantId: row.tenant_id,
    creditsMicros: row.credits_micros,
    amountUsdcMicros: row.amount_usdc_micros,
    paidUsdcMicros: row.paid_usdc_micros,
    status: row.status,
    signature: row.transaction_signature,
    recipient: row.recipient,
    tokenAccount: row.token_account,
    mint: row.mint,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    graceEndsAt: row.grace_ends_at,
    confirmedAt: row.confirmed_at,
    isClosed: row.closed_at !== null,
    payments: (byReference.get(row.reference) ?? []).map((payment) => ({
      signature: payment.signature,
      amountUsdcMicros: payment.amount_usdc_micros,
      at: payment.created_at,
      isGranted: payment.is_granted,
    })),
  }));
}
