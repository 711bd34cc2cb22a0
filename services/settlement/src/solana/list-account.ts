import type { ListedSignature } from '@svc/solana';
import type { WatchedAccount } from '@svc/store';
import { answered } from './calls.ts';
import type { Lease, WatcherDeps } from './deps.ts';
import { backlogMax, firstPageMax, overlapSlots, pagesMax } from './limits.ts';

export interface AccountList {
  /** The listed signatures from the lowest slot on, the oldest first. At most `backlogMax`, the oldest. */
  readonly entries: readonly ListedSignature[];
  /** The list reached the cursor, or the beginning of an account without one. */
  readonly isComplete: boolean;
  /** Newer signatures were left out, because the backlog is full. */
  readonly isCut: boolean;
}

type Cursor = NonNullable<WatchedAccount['cursor']>;

/** Signatures of earlier slots are not read: they were read before, or are older than the rail. */
function floorOf({ slot, floorSlot }: Cursor): number {
  return Math.max(floorSlot, slot - overlapSlots);
}

/**
 * Lists a token account page by page, from the newest signature back to the cursor. Only a list that
 * contains the cursor itself is complete. A truncated list, or one of a server that is behind, is
 * not, and the cursor then stays where it is.
 */
export async function listAccount(
  { solana, rpc }: WatcherDeps,
  lease: Lease,
  tokenAccount: string,
  cursor: Cursor,
  pagesAtMost = pagesMax,
): Promise<AccountList> {
  const floor = floorOf(cursor);
  const known = new Set<string>();
  /** Newest first. */
  let entries: ListedSignature[] = [];
  let isCut = false;
  const done = (isComplete: boolean): AccountList => ({
    entries: oldestFirst(entries.filter(({ slot }) => slot >= floor)),
    isComplete,
    isCut,
  });
  let before: string | undefined;
  for (let page = 0; page < pagesAtMost; page += 1) {
    await lease.keep();
    const limit = page === 0 ? firstPageMax : solana.signaturesPerPageMax;
    const options = { limit, ...(before === undefined ? {} : { before }) };
    const list = answered(await solana.listSignatures(rpc, tokenAccount, options)).entries;
    const fresh = list.filter(({ signature }) => !known.has(signature));
    for (const { signature } of fresh) known.add(signature);
    entries = [...entries, ...fresh];
    if (entries.length > backlogMax) {
      isCut = true;
      entries = entries.slice(-backlogMax);
    }
    if (cursor.signature === null) {
      if (fresh.length === 0) return done(true);
    } else {
      if (known.has(cursor.signature)) return done(true);
      // Also true for a page without a new signature.
      if (fresh.every(({ slot }) => slot < floor)) return done(false);
    }
    before = list.at(-1)?.signature;
  }
  return done(false);
}

/** By slot. The server lists the newest first, so equal slots keep the reverse of its order. */
function oldestFirst(newestFirst: readonly ListedSignature[]): ListedSignature[] {
  return newestFirst.toReversed().toSorted((a, b) => a.slot - b.slot);
}
