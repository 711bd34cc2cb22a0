import type { Store } from '../connection/store.ts';
import { holdFence } from './lease.ts';

/**
 * A question to the chain: which transactions name this reference? It must be answered before the
 * intent may expire, and again before the expired intent may be closed.
 */
export interface DueQuestion {
  readonly reference: string;
  readonly tokenAccount: string;
  readonly mint: string;
  readonly before: 'expiry' | 'end_of_grace';
}

/**
 * Returns up to `limit` due questions, in the order of their due times. Leaves out an intent while
 * an unread signature is recorded with its reference.
 */
export async function findDueQuestions(store: Store, limit: number): Promise<DueQuestion[]> {
  const rows = await store.query<{
    reference: string;
    token_account: string;
    mint: string;
    before: DueQuestion['before'];
  }>(
    `(SELECT reference, token_account, mint, 'expiry' AS before, ask_at AS due FROM purchase_intents
      WHERE status = 'pending' AND asked_at IS NULL AND ask_at <= svc_now()
        AND NOT EXISTS (SELECT FROM solana_unread_signatures u WHERE u.reference = purchase_intents.reference)
      ORDER BY ask_at LIMIT $1)
     UNION ALL
     (SELECT reference, token_account, mint, 'end_of_grace', ask_again_at FROM purchase_intents
      WHERE closed_at IS NULL AND asked_again_at IS NULL AND status = 'expired'
        AND ask_again_at <= svc_now()
        AND NOT EXISTS (SELECT FROM solana_unread_signatures u WHERE u.reference = purchase_intents.reference)
      ORDER BY ask_again_at LIMIT $1)
     ORDER BY due LIMIT $1`,
    [limit],
  );
  return rows.map(({ reference, token_account: tokenAccount, mint, before }) => ({
    reference,
    tokenAccount,
    mint,
    before,
  }));
}

/**
 * Records that a question was answered, unless its intent is closed or has an unread signature.
 * Throws `LeaseLost` if the lease has another epoch.
 */
export async function noteAnswered(
  store: Store,
  epoch: bigint,
  { reference, before }: Pick<DueQuestion, 'reference' | 'before'>,
): Promise<void> {
  const column = before === 'expiry' ? 'asked_at' : 'asked_again_at';
  await store.transaction(async (query) => {
    await holdFence(query, epoch);
    await query(
      `UPDATE purchase_intents SET ${column} = svc_now() WHERE reference = $1 AND closed_at IS NULL
         AND NOT EXISTS (SELECT FROM solana_unread_signatures WHERE reference = $1)`,
      [reference],
    );
  });
}

/**
 * The time for a payment to become finalized and so be listed, which usually takes 13 s. Its block
 * time decides if it came within the grace.
 */
const finalitySeconds = 60;

/** The most intents that one call expires, and the most that it closes. */
const stepsMax = 1_000;

/**
 * Expires due intents and closes expired ones after their grace, if their payments have been read
 * (CONTRACT 8). Throws `LeaseLost` if the lease has another epoch.
 */
export async function endDueIntents(
  store: Store,
  epoch: bigint,
): Promise<{ expired: number; closed: number }> {
  return store.transaction(async (query) => {
    await holdFence(query, epoch);
    const expired = await query(
      `UPDATE purchase_intents SET status = 'expired' WHERE reference IN (
         SELECT reference FROM purchase_intents
         WHERE status = 'pending' AND expires_at <= svc_now() AND asked_at IS NOT NULL
         ORDER BY expires_at LIMIT $1 FOR UPDATE)
       RETURNING 1`,
      [stepsMax],
    );
    // An intent is closed only after its second question is answered, and after the watcher has
    // listed and read all signatures of the account (decision 32).
    const closed = await query(
      `UPDATE purchase_intents SET closed_at = svc_now(),
         status = CASE WHEN paid_usdc_micros > 0 THEN 'failed' ELSE 'expired' END
       WHERE reference IN (
         SELECT i.reference FROM purchase_intents i
         JOIN solana_cursors c ON c.token_account = i.token_account
         WHERE i.closed_at IS NULL AND i.grace_ends_at <= svc_now() AND i.status = 'expired'
           AND i.asked_again_at IS NOT NULL AND c.listed_at >= i.grace_ends_at + ${finalitySeconds} * interval '1 second'
           AND NOT EXISTS (SELECT FROM solana_unread_signatures u
             WHERE u.token_account = i.token_account)
         ORDER BY i.grace_ends_at LIMIT $1 FOR UPDATE OF i)
       RETURNING 1`,
      [stepsMax],
    );
    return { expired: expired.length, closed: closed.length };
  });
}
