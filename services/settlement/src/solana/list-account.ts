import type { ListedSignature } from '@svc/solana';
import type { WatchedAccount } from '@svc/store';
import { answered } from './calls.ts';
import type { Lease, WatcherDeps } from './deps.ts';
import { backlogMax, firstPageMax, overlapSlots, pagesMax } from './limits.ts';

export interface AccountList {
  /**
   * The listed signatures whose slot is `floorOf(cursor)` or higher, oldest first. There are at
   * most `backlogMax`.
   */
  readonly entries: readonly ListedSignature[];
  /**
   * True if the list reached the signature of the cursor. If the cursor has no signature: true if
   * the last page had no new signature, or only slots below `floorOf(cursor)`.
   */
  readonly isComplete: boolean;
  /** True if newer signatures were left out, because there are more than `backlogMax`. */
  readonly isCut: boolean;
}

type Cursor = NonNullable<WatchedAccount['cursor']>;

/**
 * The lowest Solana slot whose signatures `listAccount` returns. Signatures of lower slots were
 * read before, or they are older than the creation of the cursor (`floorSlot`).
 */
function floorOf({ slot, floorSlot }: Cursor): number {
  return Math.max(floorSlot, slot - overlapSlots);
}

/**
 * Lists the signatures of a token account back to the cursor, and some before it (`overlapSlots`).
 * If the list is incomplete, the caller must not move the cursor (decision 32).
 */
export async function listAccount(
  { solana, rpc }: Pick<WatcherDeps, 'solana' | 'rpc'>,
  lease: Pick<Lease, 'keep'>,
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
    if (cursor.signature !== null && known.has(cursor.signature)) return done(true);
    // A page without new signatures also ends the list: `every` is true for an empty array.
    if (fresh.every(({ slot }) => slot < floor)) {
      // A server whose first page has only slots below `floor` is behind the chain.
      const hasReached = fresh.length === 0 || entries.some(({ slot }) => slot >= floor);
      return done(cursor.signature === null && hasReached);
    }
    before = list.at(-1)?.signature;
  }
  return done(false);
}

/**
 * The server lists the newest signature first, also within a slot. The list is reversed. The sort
 * by slot is stable, so it keeps the reversed order within each slot.
 */
function oldestFirst(newestFirst: readonly ListedSignature[]): ListedSignature[] {
  return newestFirst.toReversed().toSorted((a, b) => a.slot - b.slot);
}
