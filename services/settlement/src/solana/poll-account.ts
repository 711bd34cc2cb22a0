import {
  findRecorded,
  findWatchedAccounts,
  moveCursor,
  noteListed,
  openCursor,
  rewindCursor,
  type WatchedAccount,
} from '@svc/store';
import { answered } from './calls.ts';
import { askForSlot, type ChainSlot, slotMaxOf } from './chain-slot.ts';
import type { Lease, WatcherDeps } from './deps.ts';
import { firstPageMax, pagesMax, readsPerTickMax, rememberedMax } from './limits.ts';
import { listAccount } from './list-account.ts';
import { readSignature } from './read-signature.ts';

interface BacklogEntry {
  readonly signature: string;
  readonly slot: number;
  /** True if no read is needed: the transaction has failed, or its payment is recorded. */
  readonly isSettled: boolean;
}

/**
 * The state that this process keeps between two polls of a token account. A process that loses this
 * state only repeats calls to the RPC server.
 */
export interface AccountMemory {
  /**
   * The signatures of the last list that are still to be read. Those in the cursor's slot or a
   * later slot come first, then those in earlier slots.
   */
  backlog: BacklogEntry[];
  isComplete: boolean;
  /** False after a list, until its slots have been compared with the chain's newest slot. */
  isCompared: boolean;
  /** The highest slot of the last list and of the cursor. */
  newestSlot: number;
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
    isCompared: true,
    newestSlot: 0,
    isCut: false,
    listedAt: new Date(0),
    nextPollMs: -Infinity,
    remembered: new Map(),
  };
}

/**
 * Creates the cursor of a token account: at the newest signature, or up to one page earlier if an
 * intent is open. Creates none if all slots are beyond the chain.
 */
export async function startCursor(
  deps: WatcherDeps,
  lease: Lease,
  { tokenAccount, mint }: Pick<WatchedAccount, 'tokenAccount' | 'mint'>,
  chain: ChainSlot,
): Promise<void> {
  const { store, solana, rpc } = deps;
  const { entries } = answered(
    await solana.listSignatures(rpc, tokenAccount, { limit: firstPageMax }),
  );
  if (entries.some(({ slot }) => slot > chain.newest)) await askForSlot(deps, lease, chain);
  const believed = entries.filter(({ slot }) => slot <= slotMaxOf(chain));
  if (believed.length < entries.length) warnOfSlots(deps, chain);
  if (believed.length === 0 && entries.length > 0) return;
  // Read the accounts after the signatures. Otherwise an intent that is created and paid between
  // the two reads would be missed.
  const watched = await findWatchedAccounts(store);
  const isOpen = watched.some((one) => one.tokenAccount === tokenAccount && one.isOpen);
  const isWhole = entries.length < firstPageMax;
  // The page may contain the payment of an open intent.
  const start = isOpen ? (isWhole ? undefined : believed.at(-1)) : believed[0];
  const { signature = null, slot = 0 } = start ?? {};
  await openCursor(store, lease.epoch, { tokenAccount, mint, signature, slot });
}

/**
 * Reads signatures of `memory.backlog`. If the backlog is empty, fills the backlog from a new list
 * first. With `isIdle`, makes at most one call to the RPC server.
 */
export async function pollAccount(
  deps: WatcherDeps,
  lease: Lease,
  watched: readonly WatchedAccount[],
  account: WatchedAccount,
  { memory, chain, isIdle }: { memory: AccountMemory; chain: ChainSlot; isIdle: boolean },
): Promise<void> {
  const { tokenAccount, cursor } = account;
  if (cursor === null) return;
  let reads = isIdle ? 1 : readsPerTickMax;
  if (memory.backlog.length === 0 && memory.isCompared) {
    await fillBacklog(deps, lease, { tokenAccount, cursor }, memory, isIdle ? 1 : pagesMax);
    if (isIdle) reads = 0;
  }
  if (!memory.isCompared) {
    if (memory.newestSlot > chain.newest) {
      if (reads === 0) return;
      await askForSlot(deps, lease, chain);
      if (isIdle) reads = 0;
    }
    memory.isCompared = true;
    if (!(await believesSlots(deps, lease, tokenAccount, memory, chain))) return;
  }
  await readBacklog(deps, lease, watched, account, memory, reads);
  // `noteListed` allows intents to be closed, so the whole list must have been read before
  // (decision 32).
  if (memory.backlog.length > 0 || !memory.isComplete || memory.isCut) return;
  await noteListed(deps.store, lease.epoch, { tokenAccount, at: memory.listedAt });
}

type OpenAccount = Pick<WatchedAccount, 'tokenAccount'> & {
  readonly cursor: NonNullable<WatchedAccount['cursor']>;
};

async function fillBacklog(
  deps: WatcherDeps,
  lease: Lease,
  { tokenAccount, cursor }: OpenAccount,
  memory: AccountMemory,
  pages: number,
): Promise<void> {
  const listedAt = lease.at();
  const list = await listAccount(deps, lease, tokenAccount, cursor, pages);
  const fresh = list.entries.filter(
    ({ signature }) => signature !== cursor.signature && !memory.remembered.has(signature),
  );
  const signatures = fresh.map(({ signature }) => signature);
  const recorded =
    fresh.length === 0
      ? new Set<string>()
      : await findRecorded(deps.store, tokenAccount, signatures);
  const backlog = fresh.map(({ signature, slot, hasFailed }) => {
    return { signature, slot, isSettled: hasFailed || recorded.has(signature) };
  });
  memory.listedAt = listedAt;
  memory.isComplete = list.isComplete;
  memory.isCut = list.isCut;
  memory.newestSlot = list.entries.reduce((max, { slot }) => Math.max(max, slot), cursor.slot);
  memory.isCompared = false;
  // The listed signatures before the cursor's slot come last, because a process that has just
  // taken the lease reads them again. If they came first, new payments would wait for them.
  memory.backlog = [
    ...backlog.filter(({ slot }) => slot >= cursor.slot),
    ...backlog.filter(({ slot }) => slot < cursor.slot),
  ];
}

/**
 * If a slot is beyond the chain, the list counts as incomplete. Then the cursor stays and the lag
 * grows. Returns false if the cursor itself was taken back.
 */
async function believesSlots(
  deps: WatcherDeps,
  lease: Lease,
  tokenAccount: string,
  memory: AccountMemory,
  chain: ChainSlot,
): Promise<boolean> {
  const slotMax = slotMaxOf(chain);
  if (memory.newestSlot <= slotMax) return true;
  warnOfSlots(deps, chain);
  memory.isComplete = false;
  if (!(await rewindCursor(deps.store, lease.epoch, { tokenAccount, slotMax }))) return true;
  memory.backlog = [];
  memory.nextPollMs = -Infinity;
  return false;
}

function warnOfSlots({ logger }: WatcherDeps, { newest }: ChainSlot): void {
  logger.warn(
    { chainSlot: newest },
    'the RPC server listed a slot that the chain has not reached; the cursor does not follow it',
  );
}

async function readBacklog(
  deps: WatcherDeps,
  lease: Lease,
  watched: readonly WatchedAccount[],
  { tokenAccount, cursor }: WatchedAccount,
  memory: AccountMemory,
  readsMax: number,
): Promise<void> {
  let skippedTo: BacklogEntry | undefined;
  for (let reads = 0; reads < readsMax;) {
    const [next] = memory.backlog;
    if (next === undefined) break;
    const { signature, slot, isSettled } = next;
    let wasRead = true;
    const isAhead = memory.isComplete && slot >= (cursor?.slot ?? 0);
    if (isSettled) {
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
