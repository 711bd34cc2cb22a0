import {
  creditsToNumber,
  formatCredits,
  type IntentStatus,
  solanaGrantReference,
  toWireId,
} from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import { sqlState, uniqueViolation } from '../connection/errors.ts';
import type { Store } from '../connection/store.ts';
import { insertGrant } from '../ledger/grants.ts';
import { type IntentRow, type PurchaseIntent, withPayments } from './intents.ts';

/**
 * Purchase intents, unexplained payments and the state of the watcher, for operators and metrics
 * (CONTRACT 8 and 9).
 */

/** A null field does not filter. */
export interface IntentFilter {
  readonly tenantId: string | null;
  readonly status: IntentStatus | null;
  /** True: only confirmed intents that were paid more than their amount. False: does not filter. */
  readonly isOverpaid: boolean;
  readonly limit: number;
}

/** Up to `limit` purchase intents that match the filter, the newest first. */
export async function listPurchaseIntents(
  store: Store,
  { tenantId, status, isOverpaid, limit }: IntentFilter,
): Promise<PurchaseIntent[]> {
  const conditions = [
    'true',
    ...(tenantId === null ? [] : ['tenant_id = $2::uuid']),
    ...(status === null ? [] : [`status = '${status}'`]),
    ...(isOverpaid ? [`status = 'confirmed' AND paid_usdc_micros > amount_usdc_micros`] : []),
  ];
  const rows = await store.query<IntentRow>(
    `SELECT * FROM purchase_intents WHERE ${conditions.join(' AND ')}
     ORDER BY created_at DESC, reference LIMIT $1`,
    [limit, ...(tenantId === null ? [] : [tenantId])],
  );
  return withPayments(store.query, rows);
}

/**
 * A payment that was added to no intent, or to an intent that ended without credits. No operator
 * has granted credits for the payment yet.
 */
export interface UnexplainedPayment {
  readonly signature: string;
  readonly tokenAccount: string;
  readonly amountUsdcMicros: bigint;
  /**
   * The reference of the failed or expired intent to which the payment was added. Null if the
   * payment was added to no intent.
   */
  readonly reference: string | null;
  readonly at: Date;
}

const unexplainedSql = `
  SELECT p.signature, p.token_account, p.amount_usdc_micros, p.reference, p.created_at
  FROM solana_payments p LEFT JOIN purchase_intents i ON i.reference = p.reference
  WHERE (p.reference IS NULL OR i.status IN ('expired', 'failed') AND i.closed_at IS NOT NULL)
    AND NOT EXISTS (SELECT FROM purchases WHERE reference = 'solana:' || p.signature)`;

export interface WatcherStatus {
  readonly holder: string | null;
  readonly epoch: bigint;
  readonly isHeld: boolean;
  readonly polledAt: Date | null;
  readonly rpcAnsweredAt: Date | null;
  readonly problem: string | null;
  readonly cursors: readonly {
    readonly tokenAccount: string;
    readonly signature: string | null;
    readonly slot: number;
    readonly listedAt: Date | null;
    /** Seconds since `listedAt`, which `noteListed` stores. Null if `listedAt` is null. */
    readonly lagSeconds: number | null;
  }[];
  readonly openIntents: number;
  readonly unread: readonly {
    readonly signature: string;
    readonly attempts: number;
    readonly error: string;
    readonly firstSeenAt: Date;
  }[];
  readonly unexplained: readonly UnexplainedPayment[];
}

/** Reads the state of the watcher. Each of its three lists has at most `limit` rows. */
export async function readWatcherStatus(store: Store, limit: number): Promise<WatcherStatus> {
  const [watcher] = await store.query<Omit<WatcherStatus, 'cursors' | 'unread' | 'unexplained'>>(
    `SELECT holder, epoch, lease_expires_at > svc_now() AS "isHeld", polled_at AS "polledAt",
       rpc_answered_at AS "rpcAnsweredAt", problem,
       (SELECT count(*) FROM purchase_intents WHERE closed_at IS NULL)::int AS "openIntents"
     FROM solana_watcher`,
    [],
  );
  if (watcher === undefined) throw new Error('the row of solana_watcher is missing');
  const cursors = await store.query<WatcherStatus['cursors'][number]>(
    `SELECT token_account AS "tokenAccount", signature, slot::float8 AS slot, listed_at AS "listedAt",
       extract(epoch FROM svc_now() - listed_at)::float8 AS "lagSeconds"
     FROM solana_cursors ORDER BY token_account LIMIT $1`,
    [limit],
  );
  const unread = await store.query<WatcherStatus['unread'][number]>(
    `SELECT signature, attempts, error, first_seen_at AS "firstSeenAt"
     FROM solana_unread_signatures ORDER BY first_seen_at LIMIT $1`,
    [limit],
  );
  return { ...watcher, cursors, unread, unexplained: await findUnexplained(store, limit) };
}

/** Returns up to `limit` unexplained payments, the oldest first. */
export async function findUnexplained(store: Store, limit: number): Promise<UnexplainedPayment[]> {
  const rows = await store.query<{
    signature: string;
    token_account: string;
    amount_usdc_micros: bigint;
    reference: string | null;
    created_at: Date;
  }>(`${unexplainedSql} ORDER BY p.created_at LIMIT $1`, [limit]);
  return rows.map((row) => ({
    signature: row.signature,
    tokenAccount: row.token_account,
    amountUsdcMicros: row.amount_usdc_micros,
    reference: row.reference,
    at: row.created_at,
  }));
}

export interface WatcherFigures {
  readonly openIntents: number;
  readonly unread: number;
  readonly unexplained: number;
  /**
   * Seconds since the watcher last read all new signatures of a token account. The highest value of
   * the accounts with an open intent. 0 if no intent is open.
   */
  readonly lagSeconds: number;
}

/** Reads the watcher's figures for the metrics. At most 1,000 unexplained payments are counted. */
export async function readWatcherFigures(store: Store): Promise<WatcherFigures> {
  // Without `listed_at`, the lag counts from the creation of the cursor, or else of the intent.
  const [row] = await store.query<WatcherFigures>(
    `SELECT (SELECT count(*) FROM purchase_intents WHERE closed_at IS NULL)::int AS "openIntents",
       (SELECT count(*) FROM solana_unread_signatures)::int AS unread,
       (SELECT count(*) FROM (${unexplainedSql} LIMIT 1000) u)::int AS unexplained,
       coalesce((
         SELECT extract(epoch FROM max(svc_now() - coalesce(c.listed_at, c.created_at, i.created_at)))
         FROM purchase_intents i LEFT JOIN solana_cursors c ON c.token_account = i.token_account
         WHERE i.closed_at IS NULL), 0)::float8 AS "lagSeconds"`,
    [],
  );
  if (row === undefined) throw new Error('the query of the watcher figures returned no row');
  return row;
}

export interface PaymentAssignment {
  readonly purchaseId: string;
  readonly signature: string;
  readonly tenantId: string;
  readonly creditsMicros: bigint;
  readonly reason: string;
}

export type AssignmentOutcome =
  | { readonly kind: 'assigned'; readonly availableAfterMicros: bigint }
  | { readonly kind: 'unknown_payment' | 'unknown_tenant' | 'balance_too_large' }
  | { readonly kind: 'already_granted' }
  | { readonly kind: 'intent_open' };

/**
 * Grants credits for an unexplained payment, or for a payment that came after its intent was
 * confirmed (CONTRACT 9). A payment gets at most one grant.
 */
export async function assignPayment(
  store: Store,
  assignment: PaymentAssignment,
  by: Author,
): Promise<AssignmentOutcome> {
  try {
    return await store.transaction((query) => assign(store, query, assignment, by));
  } catch (error) {
    if (sqlState(error) !== uniqueViolation) throw error;
    return { kind: 'already_granted' };
  }
}

async function assign(
  store: Store,
  query: Parameters<typeof insertGrant>[1],
  { purchaseId, signature, tenantId, creditsMicros, reason }: PaymentAssignment,
  by: Author,
): Promise<AssignmentOutcome> {
  const payments = await query<{
    amount_usdc_micros: bigint;
    is_open: boolean;
    is_part: boolean;
  }>(
    `SELECT p.amount_usdc_micros, i.reference IS NOT NULL AND i.closed_at IS NULL AS is_open,
       COALESCE(p.created_at <= i.confirmed_at, false) AS is_part
     FROM solana_payments p LEFT JOIN purchase_intents i ON i.reference = p.reference
     WHERE p.signature = $1`,
    [signature],
  );
  if (payments.length === 0) return { kind: 'unknown_payment' };
  if (payments.some(({ is_open }) => is_open)) return { kind: 'intent_open' };
  // Several payments can confirm an intent together. Its purchase names only the last of them, so
  // `insertGrant` would not refuse a grant for the others.
  if (payments.some(({ is_part }) => is_part)) return { kind: 'already_granted' };
  const reference = solanaGrantReference(signature);
  const usdMicros = payments.reduce((sum, one) => sum + one.amount_usdc_micros, 0n);
  const grant = { purchaseId, tenantId, creditsMicros, reference, usdMicros, note: reason };
  const outcome = await insertGrant(store, query, grant, by);
  if (outcome.kind !== 'granted') return outcome;
  await appendAudit(query, by, {
    action: 'solana.assign',
    subject: { kind: 'tenant', id: toWireId('tnt', tenantId) },
    before: null,
    after: {
      signature,
      purchaseId: toWireId('pur', purchaseId),
      credits: formatCredits(creditsMicros),
      paidAmount: creditsToNumber(usdMicros),
      reason,
    },
  });
  return { kind: 'assigned', availableAfterMicros: outcome.availableAfterMicros };
}
