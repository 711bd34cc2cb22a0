import { type DueQuestion, noteAnswered, type WatchedAccount } from '@svc/store';
import { answered } from './calls.ts';
import type { Lease, WatcherDeps } from './deps.ts';
import { questionPagesMax } from './limits.ts';
import { type AccountMemory, remember } from './poll-account.ts';
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
  memory: AccountMemory,
  readsMax: number,
): Promise<number> {
  const { solana, rpc, store } = deps;
  const { reference, tokenAccount } = question;
  let reads = 0;
  let before: string | undefined;
  for (let page = 0; page < questionPagesMax; page += 1) {
    await lease.keep();
    const limit = solana.signaturesPerPageMax;
    const options = { limit, ...(before === undefined ? {} : { before }) };
    const { entries, oldest } = answered(await solana.listSignatures(rpc, reference, options));
    for (const { signature, slot, hasFailed } of entries.toReversed()) {
      if (hasFailed || memory.remembered.get(signature) === true) continue;
      // A later tick continues, because it remembers what was read.
      if (reads === readsMax) return reads;
      await lease.keep();
      const one = { tokenAccount, signature, slot, reference };
      remember(memory, signature, await readSignature(deps, lease, watched, one, null));
      reads += 1;
    }
    // A page may be shorter than `limit` although older signatures follow.
    if (oldest === null) break;
    before = oldest;
  }
  // `noteAnswered` records nothing if a transaction with this reference could not be read.
  await noteAnswered(store, lease.epoch, question);
  return reads;
}
