import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { auditAfter, type LedgerPlace } from '../ledger/ledger-audit-entries.ts';
import { auditSubmissionsOf, firstId, ofOnePage } from '../ledger/ledger-audit.ts';
import { faultsMax, type LedgerFault } from '../ledger/ledger-fault.ts';
import { type AuditLease, writeStep } from './audit-lease.ts';
import { withFaults, withoutEarlier } from './audit-state.ts';
import { readStarts, sealCheckpoint } from './checkpoints.ts';

/**
 * The pass over what is new. It visits every account and reads only the entries after its checkpoint.
 *
 * The cut is one sequence for each account, never one for the whole ledger. Every transaction that
 * writes entries of an account holds the account's row lock until its commit, so that the entries of
 * one account become visible in the order of their sequence. An entry that commits late, behind
 * entries of other accounts, is therefore read by the next pass.
 */

export interface RecentLimits {
  /** Accounts in one page, and the entries that a page reads of each. */
  readonly accountsPerPage: number;
  readonly entriesPerAccount: number;
  /** Entries in a page of one account that has more. */
  readonly entriesPerPage: number;
}

/** Returns when every account was visited. Throws `AuditLeaseLost`. */
export async function auditRecent(
  store: Store,
  lease: AuditLease,
  limits: RecentLimits,
): Promise<void> {
  const pass = lease.state.recent.pass + 1;
  let tenants = 0;
  let after: string | null = firstId;
  while (after !== null) {
    const from: string = after;
    const page = await store.transaction(
      (query) => auditAccountsAfter(query, store, from, limits),
      ofOnePage,
    );
    await keep(store, lease, pass, page);
    for (const place of page.unread) await auditLongAccount(store, lease, pass, place, limits);
    tenants += page.accounts;
    after = page.last;
  }
  await writeStep(store, lease, (state, at) => ({
    ...withoutEarlier(state, 'recent', pass),
    recent: { pass, at, tenants },
  }));
}

interface Verified {
  readonly faults: readonly LedgerFault[];
  /** Accounts whose faults the state keeps until the next full pass has ended. */
  readonly forged: readonly LedgerFault[];
  /** The new places of accounts without a fault. */
  readonly moved: readonly LedgerPlace[];
  /** Places of accounts that may have more entries. */
  readonly unread: readonly LedgerPlace[];
}

interface AccountPage extends Verified {
  readonly accounts: number;
  /** The last account. Null at the end. */
  readonly last: string | null;
}

async function auditAccountsAfter(
  query: Query,
  { sealer }: Store,
  after: string,
  { accountsPerPage, entriesPerAccount }: RecentLimits,
): Promise<AccountPage> {
  const starts = await readStarts(query, sealer, after, accountsPerPage);
  const places = starts.map(({ place }) => place);
  const verified = await verify(query, places, entriesPerAccount);
  const forged = starts
    .filter(({ isForged }) => isForged)
    .map(({ place: { tenantId } }): LedgerFault => {
      const detail = 'the checkpoint was not sealed by this service';
      return { kind: 'checkpoint_forged', subject: tenantId, tenantId, detail };
    });
  const last = starts.length < accountsPerPage ? null : (places.at(-1)?.tenantId ?? null);
  return { ...verified, forged, accounts: starts.length, last };
}

async function verify(
  query: Query,
  places: readonly LedgerPlace[],
  limit: number,
): Promise<Verified> {
  if (places.length === 0) return { faults: [], forged: [], moved: [], unread: [] };
  const { accounts, submissionIds, faults: found } = await auditAfter(query, places, limit);
  const ofSubmissions =
    submissionIds.length === 0 ? [] : await auditSubmissionsOf(query, submissionIds);
  const faults = [...found, ...ofSubmissions];
  const faulty = new Set(faults.map(({ tenantId }) => tenantId));
  const moved = accounts
    .filter(({ entries, place }) => entries > 0 && !faulty.has(place.tenantId))
    .map(({ place }) => place);
  const unread = accounts.filter(({ isComplete }) => !isComplete).map(({ place }) => place);
  return { faults, forged: [], moved, unread };
}

/**
 * Reads the rest of an account page by page. After a fault its checkpoint does not move, so that the
 * next pass finds the fault again.
 */
async function auditLongAccount(
  store: Store,
  lease: AuditLease,
  pass: number,
  from: LedgerPlace,
  { entriesPerPage }: RecentLimits,
): Promise<void> {
  const isFaulty = () =>
    lease.state.faults.some(
      (fault) => fault.by === 'recent' && fault.pass === pass && fault.tenantId === from.tenantId,
    );
  let place: LedgerPlace | undefined = from;
  while (place !== undefined && lease.state.faults.length < faultsMax) {
    const start: LedgerPlace = place;
    const page = await store.transaction(
      (query) => verify(query, [start], entriesPerPage),
      ofOnePage,
    );
    await keep(store, lease, pass, isFaulty() ? { ...page, moved: [] } : page);
    [place] = page.unread;
  }
}

/** Idle pages are not written. They are quick, and a later write finds out if the lease was lost. */
async function keep(
  store: Store,
  lease: AuditLease,
  pass: number,
  { faults, forged, moved }: Verified,
): Promise<void> {
  if (faults.length + forged.length + moved.length === 0) return;
  const checkpoints = moved.map((place) => sealCheckpoint(store.sealer, place));
  await writeStep(
    store,
    lease,
    (state) =>
      withFaults(withFaults(state, 'recent', pass, faults), 'full', state.full.pass, forged),
    checkpoints,
  );
}
