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

/** The memory of one process of a token account between two polls. It may be lost. */
export interface AccountMemory {
  /** The rest of the last list, the oldest first. */
  backlog: ListedSignature[];
  isComplete: boolean;
  /** The last list left out newer signatures. */
  isCut: boolean;
  /** The database's time at which the last list began. */
  listedAt: Date;
  nextPollMs: number;
  /** True if the signature was read, false if it was noted as unread. In the order of the attempts. */
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
 * Starts to watch a token account. An account that no intent pins yet starts at its newest signature.
 * Otherwise its newest page may hold a payment, so the cursor starts before it.
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
  // Read after the list, so that no intent was created and paid in between.
  const watched = await findWatchedAccounts(store);
  const isOpen = watched.some((one) => one.tokenAccount === tokenAccount && one.isOpen);
  const isWhole = entries.length < firstPageMax;
  const start = isOpen ? (isWhole ? undefined : entries.at(-1)) : entries[0];
  const { signature = null, slot = 0 } = start ?? {};
  await openCursor(store, lease.epoch, { tokenAccount, mint, signature, slot });
}

/**
 * Lists an account unless a backlog is left, and reads at most `most.reads` signatures, the oldest
 * first.
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
    // The overlap comes last, so that it does not delay new payments after a takeover.
    memory.backlog = [
      ...fresh.filter(({ slot }) => slot >= cursor.slot),
      ...fresh.filter(({ slot }) => slot < cursor.slot),
    ];
  }
  await readBacklog(deps, lease, watched, account, memory, most.reads);
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
