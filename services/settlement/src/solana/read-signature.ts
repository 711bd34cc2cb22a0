import { announceDeliveries } from '@svc/queue';
import { failpoint } from '@svc/runtime';
import {
  type CursorPosition,
  noteUnread,
  type RecordOutcome,
  recordTransaction,
  type WatchedAccount,
} from '@svc/store';
import { answered } from './calls.ts';
import type { Lease, WatcherDeps } from './deps.ts';

export interface SignatureToRead {
  readonly tokenAccount: string;
  readonly signature: string;
  readonly slot: number;
  /**
   * The reference for which `askForReference` found the signature. Null if `listAccount` found it.
   */
  readonly reference: string | null;
}

/**
 * Records what a Solana transaction paid. If it cannot be read, notes it for a later retry and
 * returns false. Throws `RpcUnavailable` or `LeaseLost`.
 */
export async function readSignature(
  deps: WatcherDeps,
  lease: Lease,
  watched: readonly WatchedAccount[],
  one: SignatureToRead,
  /**
   * The new position of the cursor. It is committed together with the result of the read. Null
   * leaves the cursor as it is.
   */
  cursor: CursorPosition | null,
): Promise<boolean> {
  const { store, solana, rpc, logger } = deps;
  const { signature } = one;
  const reading = answered(await solana.readTransaction(rpc, signature));
  if (reading.kind !== 'read') {
    const error =
      reading.kind === 'unreadable'
        ? reading.reason
        : 'the RPC server does not have the transaction yet';
    await noteUnread(store, lease.epoch, { ...one, error }, cursor);
    logger.warn(
      { transaction: signature, error },
      'could not read a Solana transaction; the watcher will try again',
    );
    deps.countPayment('unread');
    return false;
  }
  const { slot, blockTimeSeconds, accountKeys, rises } = reading.transaction;
  const mintOf = new Map(watched.map((account) => [account.tokenAccount, account.mint]));
  const payments = rises.flatMap(({ tokenAccount, mint, amount }) =>
    mintOf.get(tokenAccount) === mint ? [{ tokenAccount, mint, amountUsdcMicros: amount }] : [],
  );
  const found = { signature, slot, blockTimeSeconds, accountKeys, payments };
  const outcome = await recordTransaction(store, lease.epoch, found, cursor);
  await failpoint('solana.recorded');
  await report(deps, signature, outcome);
  return true;
}

async function report(deps: WatcherDeps, signature: string, outcome: RecordOutcome): Promise<void> {
  const { logger, producer } = deps;
  if (outcome.kind === 'nothing') return;
  deps.countPayment(outcome.kind);
  const fields = {
    transaction: signature,
    ...('reference' in outcome ? { reference: outcome.reference } : {}),
  };
  switch (outcome.kind) {
    case 'granted':
      logger.info(fields, 'a purchase intent was paid and its credits were granted');
      try {
        await announceDeliveries(producer, [outcome.tenantId]);
      } catch (error) {
        // The delivery is already due in Postgres, where the reconciler of deliveries finds it.
        logger.warn(
          { err: error },
          'could not enqueue the wake-up job for the webhook about a payment',
        );
      }
      return;
    case 'added':
      logger.info(
        fields,
        'a payment was added to a purchase intent, but granted no credits: the intent is closed or not yet paid in full',
      );
      return;
    case 'unexplained':
      logger.warn(fields, 'an incoming payment was not added to any purchase intent');
      return;
    case 'balance_too_large':
      logger.error(
        fields,
        'a paid purchase intent was not credited: the balance of its tenant would exceed the limit',
      );
  }
}
