import {
  choosePaidIntent,
  creditsToNumber,
  eventBody,
  type NamedIntent,
  type PaidIntent,
  solanaGrantReference,
  toWireId,
} from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { destinationColumns, type Destinations } from '../deliveries/destinations.ts';
import { insertEvents } from '../deliveries/outbox.ts';
import { insertGrant } from '../ledger/grants.ts';
import { advanceCursor, type CursorPosition } from './cursors.ts';
import type { IntentRow } from './intents.ts';
import { holdFence } from './lease.ts';

/**
 * A finalized transaction that was read from the chain. A payment is the amount by which the
 * transaction raised the balance of a watched token account.
 */
export interface FoundTransaction {
  readonly signature: string;
  readonly slot: number;
  readonly blockTimeSeconds: number | null;
  /** The accounts that the transaction names. The reference of an intent may be among them. */
  readonly accountKeys: readonly string[];
  readonly payments: readonly FoundPayment[];
}

interface FoundPayment {
  readonly tokenAccount: string;
  readonly mint: string;
  readonly amountUsdcMicros: bigint;
}

export type RecordOutcome =
  /**
   * The transaction has no payment, or was recorded before. Or an operator has already granted the
   * credits of its payments.
   */
  | { readonly kind: 'nothing' }
  /** No intent took the payment. An operator can grant its credits by hand. */
  | { readonly kind: 'unexplained' }
  /** The payment was added to an intent but does not complete it. Nothing was granted. */
  | { readonly kind: 'added'; readonly reference: string }
  /**
   * The credits of the intent were granted. The caller must enqueue a wake-up job for the delivery
   * of the tenant's event `credits.purchased`.
   */
  | { readonly kind: 'granted'; readonly reference: string; readonly tenantId: string }
  /**
   * The payment completes an intent, but with its credits the tenant's balance would exceed
   * `creditsMicrosMax`. Nothing was granted.
   */
  | { readonly kind: 'balance_too_large'; readonly reference: string };

/**
 * Records the payments of a Solana transaction and moves the cursor, in one Postgres transaction
 * (CONTRACT 8). Throws `LeaseLost` if the lease has another epoch.
 */
export function recordTransaction(
  store: Store,
  epoch: bigint,
  found: FoundTransaction,
  /** Null: the cursor does not move. */
  cursor: CursorPosition | null,
): Promise<RecordOutcome> {
  return store.transaction(async (query) => {
    await holdFence(query, epoch);
    const outcome = await recordPayments(store, query, found);
    await query('DELETE FROM solana_unread_signatures WHERE signature = $1', [found.signature]);
    if (cursor !== null) await advanceCursor(query, cursor);
    return outcome;
  });
}

/** Those of the signatures whose payments to the token account are recorded. */
export async function findRecorded(
  { query }: Store,
  tokenAccount: string,
  signatures: readonly string[],
): Promise<Set<string>> {
  const rows = await query<{ signature: string }>(
    `SELECT signature FROM solana_payments
     WHERE token_account = $1 AND signature = ANY($2::text[])`,
    [tokenAccount, signatures],
  );
  return new Set(rows.map(({ signature }) => signature));
}

interface LockedIntent extends NamedIntent {
  readonly row: IntentRow;
}

async function recordPayments(
  store: Store,
  query: Query,
  found: FoundTransaction,
): Promise<RecordOutcome> {
  if (found.payments.length === 0) return { kind: 'nothing' };
  const earlier = await query('SELECT 1 FROM solana_payments WHERE signature = $1 LIMIT 1', [
    found.signature,
  ]);
  if (earlier.length > 0) return { kind: 'nothing' };
  const named = await lockNamedIntents(query, found);
  if (await isSettledByOperator(query, found.signature)) {
    await insertPayments(query, found, undefined);
    return { kind: 'nothing' };
  }
  const paid = choosePaidIntent(named, found.payments);
  await insertPayments(query, found, paid);
  if (paid === undefined) return { kind: 'unexplained' };
  const { reference } = paid.intent;
  const granted = paid.completes && (await grant(store, query, found, paid));
  await addPayment(query, found.signature, paid, granted);
  if (!granted) return { kind: paid.completes ? 'balance_too_large' : 'added', reference };
  await announce(store, query, found.signature, paid);
  return { kind: 'granted', reference, tenantId: paid.intent.row.tenant_id };
}

/**
 * The intents that the transaction names, oldest first. They are locked until the commit, so that
 * the choice of the paid intent stays valid.
 */
async function lockNamedIntents(query: Query, found: FoundTransaction): Promise<LockedIntent[]> {
  const rows = await query<IntentRow>(
    `SELECT * FROM purchase_intents WHERE reference = ANY($1::text[])
     ORDER BY created_at, reference FOR UPDATE`,
    [found.accountKeys],
  );
  return rows.map((row) => ({
    reference: row.reference,
    tokenAccount: row.token_account,
    amountUsdcMicros: row.amount_usdc_micros,
    paidUsdcMicros: row.paid_usdc_micros,
    isOpen: row.closed_at === null && !isAfterGrace(row, found),
    row,
  }));
}

/**
 * True if the transaction came after the intent's grace, by the block time. Without a block time,
 * the transaction counts as in time.
 */
function isAfterGrace(
  { grace_ends_at }: IntentRow,
  { blockTimeSeconds }: FoundTransaction,
): boolean {
  return blockTimeSeconds !== null && blockTimeSeconds * 1000 > grace_ends_at.getTime();
}

async function isSettledByOperator(query: Query, signature: string): Promise<boolean> {
  const rows = await query('SELECT 1 FROM purchases WHERE reference = $1', [
    solanaGrantReference(signature),
  ]);
  return rows.length > 0;
}

async function insertPayments(
  query: Query,
  found: FoundTransaction,
  paid: PaidIntent<LockedIntent> | undefined,
): Promise<void> {
  const { blockTimeSeconds } = found;
  const rows = found.payments.map(({ tokenAccount, mint, amountUsdcMicros }) => ({
    token_account: tokenAccount,
    mint,
    amount: String(amountUsdcMicros),
    reference: paid?.payment.tokenAccount === tokenAccount ? paid.intent.reference : null,
  }));
  await query(
    `INSERT INTO solana_payments (signature, token_account, mint, amount_usdc_micros, slot, block_time,
       reference, created_at)
     SELECT $1, r.token_account, r.mint, r.amount, $2, to_timestamp($3::float8), r.reference,
       GREATEST(svc_now(), i.confirmed_at + interval '1 millisecond')
     FROM jsonb_to_recordset($4::jsonb) AS r (token_account text, mint text, amount bigint, reference text)
     LEFT JOIN purchase_intents i ON i.reference = r.reference`,
    [found.signature, found.slot, blockTimeSeconds, JSON.stringify(rows)],
  );
}

/** Returns false if the tenant's balance would exceed its maximum. */
async function grant(
  store: Store,
  query: Query,
  found: FoundTransaction,
  { intent: { row, reference } }: PaidIntent<LockedIntent>,
): Promise<boolean> {
  const outcome = await insertGrant(
    store,
    query,
    {
      purchaseId: store.newId(),
      tenantId: row.tenant_id,
      creditsMicros: row.credits_micros,
      reference: solanaGrantReference(found.signature),
      usdMicros: row.amount_usdc_micros,
      note: `purchase intent ${reference}`,
    },
    { actor: { kind: 'tenant', id: row.tenant_id }, requestId: null },
  );
  return outcome.kind === 'granted';
}

async function addPayment(
  query: Query,
  signature: string,
  { intent, payment }: PaidIntent<LockedIntent>,
  confirms: boolean,
): Promise<void> {
  await query(
    confirms
      ? `UPDATE purchase_intents SET paid_usdc_micros = paid_usdc_micros + $2, status = 'confirmed',
           transaction_signature = $3, closed_at = svc_now(),
           confirmed_at = (SELECT GREATEST(svc_now(), max(created_at)) FROM solana_payments WHERE reference = $1)
         WHERE reference = $1`
      : 'UPDATE purchase_intents SET paid_usdc_micros = paid_usdc_micros + $2 WHERE reference = $1',
    [intent.reference, payment.amountUsdcMicros, ...(confirms ? [signature] : [])],
  );
}

async function announce(
  store: Store,
  query: Query,
  signature: string,
  { intent, payment }: PaidIntent<LockedIntent>,
): Promise<void> {
  const { tenant_id: tenantId, credits_micros: creditsMicros } = intent.row;
  const [tenant] = await query<Destinations & { now: Date }>(
    `SELECT ${destinationColumns('t')}, svc_now() AS now FROM tenants t WHERE id = $1::uuid`,
    [tenantId],
  );
  const data = {
    reference: intent.reference,
    credits: creditsToNumber(creditsMicros),
    paidAmount: creditsToNumber(intent.paidUsdcMicros + payment.amountUsdcMicros),
    signature,
  };
  const type = 'credits.purchased' as const;
  const at = tenant?.now ?? new Date(0);
  await insertEvents(store, query, [
    {
      tenantId,
      type,
      submissionId: null,
      requestId: null,
      notified: tenant?.notified === true,
      endpoints: tenant?.endpoints ?? null,
      body: (id) => eventBody({ id: toWireId('evt', id), type, at, data }),
    },
  ]);
}
