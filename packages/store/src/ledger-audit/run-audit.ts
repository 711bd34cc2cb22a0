import type { Store } from '../connection/store.ts';
import {
  accountsPerPageDefault,
  entriesPerPageDefault,
  type LedgerAudit,
  submissionsPerPageDefault,
} from '../ledger/ledger-audit.ts';
import type { LedgerFault } from '../ledger/ledger-fault.ts';
import { saveLedgerVerdict } from '../ledger/ledger-verdict.ts';
import {
  AuditLeaseLost,
  endAudit,
  noteAuditFailure,
  readState,
  replaceState,
  takeAuditLease,
} from './audit-lease.ts';
import { distinctFaults, withFaults } from './audit-state.ts';
import { auditNextPart, type FullLimits, ledgerRows } from './full-pass.ts';
import { auditRecent, type RecentLimits } from './recent-pass.ts';

type AuditLimits = FullLimits & RecentLimits;

const defaultLimits: AuditLimits = {
  accountsPerPage: accountsPerPageDefault,
  entriesPerPage: entriesPerPageDefault,
  submissionsPerPage: submissionsPerPageDefault,
  pagesMin: 4,
  pagesMax: 400,
};

export interface LedgerAuditRun {
  /** Names this process. Unique. */
  readonly holder: string;
  /** Only if the interval since the last audit is over. */
  readonly isDueOnly?: boolean;
  /** The step that this process read last (`LedgerAuditStatus`). */
  readonly notedStep?: bigint | null;
  readonly limits?: Partial<AuditLimits>;
}

/**
 * Audits what is new in the ledger, and the next part of the full pass. One process does so at a
 * time. Returns false if another one does. Throws if the audit cannot be completed. The failure is
 * then noted for `readLedgerAudit`.
 */
export async function runLedgerAudit(
  store: Store,
  { holder, isDueOnly = false, notedStep = null, limits: given = {} }: LedgerAuditRun,
): Promise<boolean> {
  const limits = { ...defaultLimits, ...given };
  const lease = await takeAuditLease(store, { holder, isDueOnly, notedStep });
  if (lease === null) return false;
  try {
    await auditRecent(store, lease, limits);
    await auditNextPart(store, lease, limits);
    await endAudit(store, lease);
  } catch (error) {
    if (error instanceof AuditLeaseLost) return false;
    // If this fails too, the age of the last audit shows it.
    await noteAuditFailure(store, lease, error).catch(() => {});
    throw error;
  }
  const { recent, lastFull } = lease.state;
  await saveLedgerVerdict(store, {
    at: recent.at ?? lease.at,
    tenants: recent.tenants,
    submissions: lastFull?.submissions ?? 0,
    faults: distinctFaults(lease.state).length,
  });
  return true;
}

export interface LedgerAuditStatus {
  /** Counts the writes of the state. */
  readonly step: bigint;
  /** The end of the last pass that visited every account. Null if none has ended. */
  readonly at: Date | null;
  readonly tenants: number;
  /** Submissions that the last full pass verified. */
  readonly submissions: number;
  /** Faults that no later pass has found gone. At most 100. */
  readonly faults: LedgerFault[];
  /** Set if the last audit failed. */
  readonly failedAt: Date | null;
  readonly error: string | null;
  /** The end of the last pass over the whole ledger. Null if none has ended. */
  readonly fullAt: Date | null;
  /** The part of the ledger that the full pass under way has read, from 0 to 1. */
  readonly fullRatio: number;
}

/** Reads the state of the ledger audit. Null if its row is missing. */
export async function readLedgerAudit(
  store: Store,
  notedStep: bigint | null = null,
): Promise<LedgerAuditStatus | null> {
  const read = await readState(store.query, store, notedStep);
  if (read === null) return null;
  const { state, failedAt, error } = read;
  const { recent, full, lastFull } = state;
  const rows = Math.max(full.rows, await ledgerRows(store.query), 1);
  return {
    step: state.step,
    at: recent.at,
    tenants: recent.tenants,
    submissions: lastFull?.submissions ?? 0,
    faults: distinctFaults(state),
    failedAt,
    error,
    fullAt: lastFull?.at ?? null,
    fullRatio: full.rows / rows,
  };
}

/** Faults of the audit itself. Only complete passes end them. */
const ofAudit = ['checkpoint_forged', 'audit_state_forged'];

/**
 * Saves the result of a whole audit (`auditLedger`). Its faults replace those that were known, and
 * they stay until the full pass that follows has ended without them.
 */
export async function saveWholeAudit(
  store: Store,
  { tenants, submissions, faults }: LedgerAudit,
): Promise<void> {
  const at = await replaceState(store, (state, now) => {
    const kept = state.faults.filter(({ kind }) => ofAudit.includes(kind));
    return {
      ...withFaults({ ...state, faults: kept }, 'full', state.full.pass, faults),
      recent: { ...state.recent, at: now, tenants },
      lastFull: { at: now, tenants, submissions },
    };
  });
  await saveLedgerVerdict(store, { at, tenants, submissions, faults: faults.length });
}
