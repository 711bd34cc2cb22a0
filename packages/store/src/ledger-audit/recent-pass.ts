import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { auditAfter, type LedgerPlace } from '../ledger/ledger-audit-entries.ts';
import { auditSubmissionsOf, firstId, ofOnePage } from '../ledger/ledger-audit.ts';
import { faultsMax, type LedgerFault } from '../ledger/ledger-fault.ts';
import { type AuditLease, writeStep } from './audit-lease.ts';
import { withFaults, withoutEarlier } from './audit-state.ts';
import { readStarts, sealCheckpoint } from './checkpoints.ts';

/**
 * The pass over the entries after each account's checkpoint. A common checkpoint at entry 6 would
 * miss entry 5 of another account if entry 5 is committed after entry 6.
 */

export interface RecentLimits {
  readonly accountsPerPage: number;
  /**
   * The most entries to read per page, divided equally among the accounts of the page. Each
   * account's part is at least one entry, even if the total exceeds this limit.
   */
  readonly entriesPerPage: number;
}

/** Throws `AuditLeaseLost` if another process has taken the lease or replaced the state. */
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
    await auditUnread(store, lease, pass, page.unread, limits);
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
  /**
   * Faults of forged checkpoints. They are stored as if the current full pass had found them. So
   * they stay until a whole later full pass has ended without them.
   */
  readonly forged: readonly LedgerFault[];
  /** The new checkpoints of the accounts that have new entries and no fault in `faults`. */
  readonly moved: readonly LedgerPlace[];
  /** For each account that may have more entries: the place after which the audit continues. */
  readonly unread: readonly LedgerPlace[];
}

interface AccountPage extends Verified {
  readonly accounts: number;
  /** The tenant of the last account on this page. Null on the last page. */
  readonly last: string | null;
}

async function auditAccountsAfter(
  query: Query,
  { sealer }: Store,
  after: string,
  { accountsPerPage, entriesPerPage }: RecentLimits,
): Promise<AccountPage> {
  const starts = await readStarts(query, sealer, after, accountsPerPage);
  const places = starts.map(({ place }) => place);
  const verified = await verify(query, places, entriesPerPage);
  const forged = starts
    .filter(({ isForged }) => isForged)
    .map(({ place: { tenantId } }): LedgerFault => {
      const detail = 'the checkpoint cannot be unsealed: it was changed';
      return { kind: 'checkpoint_forged', subject: tenantId, tenantId, detail };
    });
  const last = starts.length < accountsPerPage ? null : (places.at(-1)?.tenantId ?? null);
  return { ...verified, forged, accounts: starts.length, last };
}

async function verify(
  query: Query,
  places: readonly LedgerPlace[],
  entriesPerPage: number,
): Promise<Verified> {
  if (places.length === 0) return { faults: [], forged: [], moved: [], unread: [] };
  const limit = Math.max(1, Math.floor(entriesPerPage / places.length));
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
 * Audits the entries after each place in `from`, page by page. Stops early if `faultsMax` faults
 * are known.
 */
async function auditUnread(
  store: Store,
  lease: AuditLease,
  pass: number,
  from: readonly LedgerPlace[],
  { entriesPerPage }: RecentLimits,
): Promise<void> {
  let unread = from;
  while (unread.length > 0 && lease.state.faults.length < faultsMax) {
    const places = unread;
    const page = await store.transaction(
      (query) => verify(query, places, entriesPerPage),
      ofOnePage,
    );
    await keep(store, lease, pass, page);
    unread = page.unread;
  }
}

/**
 * Writes the faults and new checkpoints of a page. If this pass found a fault in an account, the
 * account keeps its old checkpoint. So the next pass finds the fault again.
 */
async function keep(
  store: Store,
  lease: AuditLease,
  pass: number,
  { faults, forged, moved: verified }: Verified,
): Promise<void> {
  const faulty = new Set(
    lease.state.faults
      .filter((fault) => fault.by === 'recent' && fault.pass === pass)
      .map(({ tenantId }) => tenantId),
  );
  const moved = verified.filter(({ tenantId }) => !faulty.has(tenantId));
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
