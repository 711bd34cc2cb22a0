import type { ListedSignature } from '@svc/solana';
import {
  findWatchedAccounts,
  moveCursor,
  noteListed,
  openCursor,
  type WatchedAccount,
} from '@svc/store';
import { answered } from './calls.ts';
import type { Lease, WatcherDeps } from './deps.ts';
import { firstPageMax, readsPerTickMax, rememberedMax } from './limits.ts';
import { listAccount } from './list-account.ts';
import { readSignature } from './read-signature.ts';

/**
 * The state that this process keeps between two polls of a token account. A process that loses this
 * state only repeats calls to the RPC server.
 */
export interface AccountMemory {
  /**
   * The signatures of the last list that are still to be read. Those in the cursor's slot or a
   * later slot come first, then those in earlier slots.
   */
  backlog: ListedSignature[];
  isComplete: boolean;
  isCut: boolean;
  /**
   * The last listing of the account began at this database time or later. The value comes from
   * `lease.at()`, which returns the time when the lease was taken or last renewed.
   */
  listedAt: Date;
  nextPollMs: number;
  /**
   * The last result that `remember` got for each signature: true if the transaction was read or has
   * failed on Solana, false if `noteUnread` recorded the signature.
   */
  readonly remembered: Map<string, boolean>;
}

export function newAccountMemory(): AccountMemory {
  return {
    backlog: [],
    isComplete: false,
    isCut: false,
    listedAt: new Date(0),
    nextPollMs: -Infinity,
    remembered: new Map(),
  };
}

/**
 * Creates the cursor of a token account: at the newest signature, or up to one page earlier if an
 * intent of the account is open.
 */
export async function startCursor(
  deps: WatcherDeps,
  lease: Lease,
  { tokenAccount, mint }: Pick<WatchedAccount, 'tokenAccount' | 'mint'>,
): Promise<void> {
  const { store, solana, rpc } = deps;
  const { entries } = answered(
    await solana.listSignatures(rpc, tokenAccount, { limit: firstPageMax }),
  );
  // Read the accounts after the signatures. Otherwise an intent that is created and paid between
  // the two reads would be missed.
  const watched = await findWatchedAccounts(store);
  const isOpen = watched.some((one) => one.tokenAccount === tokenAccount && one.isOpen);
  const isWhole = entries.length < firstPageMax;
  // The page may contain the payment of an open intent.
  const start = isOpen ? (isWhole ? undefined : entries.at(-1)) : entries[0];
  const { signature = null, slot = 0 } = start ?? {};
  await openCursor(store, lease.epoch, { tokenAccount, mint, signature, slot });
}

/**
 * Reads at most `most.reads` signatures of `memory.backlog`. If the backlog is empty, fills the
 * backlog from a new list first.
 */
export async function pollAccount(
  deps: WatcherDeps,
  lease: Lease,
  watched: readonly WatchedAccount[],
  account: WatchedAccount,
  memory: AccountMemory,
  most: { readonly pages?: number; readonly reads: number } = { reads: readsPerTickMax },
): Promise<void> {
  const { tokenAccount, cursor } = account;
  if (cursor === null) return;
  if (memory.backlog.length === 0) {
    memory.listedAt = lease.at();
    const list = await listAccount(deps, lease, tokenAccount, cursor, most.pages);
    const isNew = ({ signature }: ListedSignature) =>
      signature !== cursor.signature && !memory.remembered.has(signature);
    memory.isComplete = list.isComplete;
    memory.isCut = list.isCut;
    const fresh = list.entries.filter(isNew);
    // The listed signatures before the cursor's slot come last, because a process that has just
    // taken the lease reads them again. If they came first, new payments would wait for them.
    memory.backlog = [
      ...fresh.filter(({ slot }) => slot >= cursor.slot),
      ...fresh.filter(({ slot }) => slot < cursor.slot),
    ];
  }
  await readBacklog(deps, lease, watched, account, memory, most.reads);
  // `noteListed` allows intents to be closed, so the whole list must have been read before
  // (decision 32).
  if (memory.backlog.length > 0 || !memory.isComplete || memory.isCut) return;
  await noteListed(deps.store, lease.epoch, { tokenAccount, at: memory.listedAt });
}

async function readBacklog(
  deps: WatcherDeps,
  lease: Lease,
  watched: readonly WatchedAccount[],
  { tokenAccount, cursor }: WatchedAccount,
  memory: AccountMemory,
  readsMax: number,
): Promise<void> {
  let skippedTo: ListedSignature | undefined;
  for (let reads = 0; reads < readsMax;) {
    const [next] = memory.backlog;
    if (next === undefined) break;
    const { signature, slot, hasFailed } = next;
    let wasRead = true;
    const isAhead = memory.isComplete && slot >= (cursor?.slot ?? 0);
    if (hasFailed) {
      if (isAhead) skippedTo = next;
    } else {
      await lease.keep();
      const position = isAhead ? { tokenAccount, signature, slot } : null;
      const one = { tokenAccount, signature, slot, reference: null };
      wasRead = await readSignature(deps, lease, watched, one, position);
      reads += 1;
      skippedTo = undefined;
    }
    memory.backlog.shift();
    remember(memory, signature, wasRead);
  }
  if (skippedTo === undefined) return;
  const { signature, slot } = skippedTo;
  await moveCursor(deps.store, lease.epoch, { tokenAccount, signature, slot });
}

export function remember({ remembered }: AccountMemory, signature: string, wasRead: boolean): void {
  remembered.set(signature, wasRead);
  const [oldest] = remembered.keys();
  if (remembered.size > rememberedMax && oldest !== undefined) remembered.delete(oldest);
}
