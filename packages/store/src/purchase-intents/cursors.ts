import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { holdFence } from './lease.ts';

/**
 * A position in the list of a token account's signatures. A cursor moves only past transactions
 * that were read, have failed or were recorded as unread (decision 32).
 */
export interface CursorPosition {
  readonly tokenAccount: string;
  readonly signature: string;
  readonly slot: number;
}

export interface WatchedAccount {
  readonly tokenAccount: string;
  readonly mint: string;
  /** True if this is the token account of an open intent. */
  readonly isOpen: boolean;
  /** Null until the cursor of the account is created. */
  readonly cursor: {
    /**
     * The signature at which the cursor is. Null if the cursor is before the first signature of the
     * account.
     */
    readonly signature: string | null;
    readonly slot: number;
    /** The watcher leaves out slots before this one when it lists the account's signatures. */
    readonly floorSlot: number;
  } | null;
}

/**
 * The token accounts to watch: those of open intents, and those that have a cursor. The cost of the
 * query depends on the number of accounts, not on the number of intents.
 */
export async function findWatchedAccounts(store: Store): Promise<WatchedAccount[]> {
  const rows = await store.query<{
    token_account: string;
    mint: string;
    is_open: boolean;
    has_cursor: boolean;
    signature: string | null;
    slot: bigint | null;
    floor_slot: bigint | null;
  }>(
    `WITH RECURSIVE open (token_account) AS (
       (SELECT token_account FROM purchase_intents WHERE closed_at IS NULL ORDER BY token_account LIMIT 1)
       UNION ALL
       SELECT (SELECT i.token_account FROM purchase_intents i
               WHERE i.closed_at IS NULL AND i.token_account > open.token_account
               ORDER BY i.token_account LIMIT 1)
       FROM open WHERE open.token_account IS NOT NULL
     )
     SELECT coalesce(o.token_account, c.token_account) AS token_account,
       coalesce(c.mint, (SELECT mint FROM purchase_intents i
         WHERE i.closed_at IS NULL AND i.token_account = o.token_account LIMIT 1)) AS mint,
       o.token_account IS NOT NULL AS is_open, c.token_account IS NOT NULL AS has_cursor,
       c.signature, c.slot, c.floor_slot
     FROM (SELECT token_account FROM open WHERE token_account IS NOT NULL) o
     FULL JOIN solana_cursors c ON c.token_account = o.token_account
     ORDER BY 1`,
    [],
  );
  return rows.map((row) => ({
    tokenAccount: row.token_account,
    mint: row.mint,
    isOpen: row.is_open,
    cursor: row.has_cursor
      ? {
          signature: row.signature,
          slot: Number(row.slot),
          floorSlot: Number(row.floor_slot),
        }
      : null,
  }));
}

/**
 * Creates the cursor of a token account at `start`, unless the account already has a cursor. Throws
 * `LeaseLost` if the lease has another epoch.
 */
export async function openCursor(
  store: Store,
  epoch: bigint,
  start: {
    readonly tokenAccount: string;
    readonly mint: string;
    readonly signature: string | null;
    readonly slot: number;
  },
): Promise<void> {
  await store.transaction(async (query) => {
    await holdFence(query, epoch);
    await query(
      `INSERT INTO solana_cursors (token_account, mint, signature, slot, floor_slot, created_at)
       VALUES ($1, $2, $3, $4, $4, svc_now()) ON CONFLICT (token_account) DO NOTHING`,
      [start.tokenAccount, start.mint, start.signature, start.slot],
    );
  });
}

/**
 * Moves the cursor to `to`, past signatures of failed transactions. Throws `LeaseLost` if the lease
 * has another epoch.
 */
export async function moveCursor(store: Store, epoch: bigint, to: CursorPosition): Promise<void> {
  await store.transaction(async (query) => {
    await holdFence(query, epoch);
    await advanceCursor(query, to);
  });
}

/** Moves the cursor to `to`. Does nothing if the cursor is already at a later slot. */
export async function advanceCursor(query: Query, to: CursorPosition): Promise<void> {
  await query(
    'UPDATE solana_cursors SET signature = $2, slot = $3 WHERE token_account = $1 AND slot <= $3',
    [to.tokenAccount, to.signature, to.slot],
  );
}

/**
 * Takes a cursor above `slotMax` back to `floor_slot`, or to 0. The account then counts as not
 * listed. Returns false if nothing changed. Throws `LeaseLost`.
 */
export async function rewindCursor(
  store: Store,
  epoch: bigint,
  { tokenAccount, slotMax }: { readonly tokenAccount: string; readonly slotMax: number },
): Promise<boolean> {
  return store.transaction(async (query) => {
    await holdFence(query, epoch);
    const rewound = await query(
      `UPDATE solana_cursors SET signature = NULL, listed_at = NULL,
         slot = CASE WHEN floor_slot <= $2 THEN floor_slot ELSE 0 END,
         floor_slot = CASE WHEN floor_slot <= $2 THEN floor_slot ELSE 0 END
       WHERE token_account = $1 AND slot > $2 RETURNING 1`,
      [tokenAccount, slotMax],
    );
    return rewound.length > 0;
  });
}

/**
 * Call this after all signatures from the newest back to the cursor are listed and processed
 * (decision 32). Writes nothing if another watcher has taken over.
 */
export async function noteListed(
  store: Store,
  epoch: bigint,
  /** The listing began at the database time `at` or later. */
  { tokenAccount, at }: { readonly tokenAccount: string; readonly at: Date },
): Promise<void> {
  await store.query(
    `UPDATE solana_cursors SET listed_at = $3
     WHERE token_account = $1 AND EXISTS (SELECT FROM solana_watcher WHERE epoch = $2)`,
    [tokenAccount, epoch, at],
  );
}

export interface UnreadSignature {
  readonly tokenAccount: string;
  readonly mint: string;
  readonly signature: string;
  readonly slot: number;
  /**
   * The reference of an intent, if the watcher found the signature by a search for that reference.
   * Null if the signature was only in a list of the token account's signatures.
   */
  readonly reference: string | null;
  readonly attempts: number;
}

/** Each retry waits for an eighth of the age of the record, from 1 s up to this limit. */
const retrySecondsMax = 300;

/**
 * Records a signature that could not be read. The same Postgres transaction moves the cursor,
 * unless `cursor` is null. Throws `LeaseLost` if the lease has another epoch.
 */
export async function noteUnread(
  store: Store,
  epoch: bigint,
  unread: Omit<UnreadSignature, 'mint' | 'attempts'> & { readonly error: string },
  cursor: CursorPosition | null,
): Promise<void> {
  await store.transaction(async (query) => {
    await holdFence(query, epoch);
    await query(
      `INSERT INTO solana_unread_signatures AS u (token_account, signature, slot, reference, attempts,
         error, first_seen_at, next_attempt_at)
       VALUES ($1, $2, $3, $4, 1, $5, svc_now(), svc_now() + interval '1 second')
       ON CONFLICT (token_account, signature) DO UPDATE SET attempts = u.attempts + 1, error = $5,
         reference = coalesce(u.reference, $4),
         next_attempt_at = svc_now() + least($6, greatest(1, extract(epoch FROM svc_now() - u.first_seen_at) / 8))
           * interval '1 second'`,
      [
        unread.tokenAccount,
        unread.signature,
        unread.slot,
        unread.reference,
        unread.error,
        retrySecondsMax,
      ],
    );
    if (cursor !== null) await advanceCursor(query, cursor);
  });
}

export async function findUnreadDue(store: Store, limit: number): Promise<UnreadSignature[]> {
  const rows = await store.query<{
    token_account: string;
    mint: string;
    signature: string;
    slot: bigint;
    reference: string | null;
    attempts: number;
  }>(
    `SELECT u.token_account, c.mint, u.signature, u.slot, u.reference, u.attempts
     FROM solana_unread_signatures u JOIN solana_cursors c ON c.token_account = u.token_account
     WHERE u.next_attempt_at <= svc_now() ORDER BY u.next_attempt_at LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({
    tokenAccount: row.token_account,
    mint: row.mint,
    signature: row.signature,
    slot: Number(row.slot),
    reference: row.reference,
    attempts: row.attempts,
  }));
}
