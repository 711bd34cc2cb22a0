import { type DueQuestion, noteAnswered, type WatchedAccount } from '@svc/store';
import { answered } from './calls.ts';
import type { Lease, WatcherDeps } from './deps.ts';
import { questionPagesMax } from './limits.ts';
import { readSignature } from './read-signature.ts';

/**
 * Asks the RPC server for the transactions that name a reference, because the server's list for the
 * token account can miss a payment (decision 32).
 */
export async function askForReference(
  deps: WatcherDeps,
  lease: Lease,
  watched: readonly WatchedAccount[],
  question: DueQuestion,
  hasRead: (signature: string) => boolean,
): Promise<void> {
  const { solana, rpc, store } = deps;
  const { reference, tokenAccount } = question;
  let before: string | undefined;
  for (let page = 0; page < questionPagesMax; page += 1) {
    await lease.keep();
    const limit = solana.signaturesPerPageMax;
    const options = { limit, ...(before === undefined ? {} : { before }) };
    const { entries, oldest } = answered(await solana.listSignatures(rpc, reference, options));
    for (const { signature, slot, hasFailed } of entries.toReversed()) {
      if (hasFailed || hasRead(signature)) continue;
      await lease.keep();
      await readSignature(deps, lease, watched, { tokenAccount, signature, slot, reference }, null);
    }
    // A page may be shorter than `limit` although older signatures follow.
    if (oldest === null) break;
    before = oldest;
  }
  // `noteAnswered` records nothing if a transaction with this reference could not be read.
  await noteAnswered(store, lease.epoch, question);
}
