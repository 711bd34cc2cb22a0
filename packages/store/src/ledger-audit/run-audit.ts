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
  /** A name for this process. It is stored in `ledger_audit` while the process has the lease. */
  readonly holder: string;
  /**
   * True: audits only if an audit is due. It is due `ledgerAuditIntervalMs` after the end of the
   * last audit, or at once after a failed one. Default: false.
   */
  readonly isDueOnly?: boolean;
  /**
   * The `step` of the last `LedgerAuditStatus` that this process has read. A lower stored step
   * means that an earlier state was put back. Null: not compared.
   */
  readonly notedStep?: bigint | null;
  readonly limits?: Partial<AuditLimits>;
}

/**
 * Returns false if the audit is not due (`isDueOnly`), if this process cannot get or keep the
 * lease, or if the row of `ledger_audit` is missing. Throws if the audit fails.
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
    // If the failure cannot be recorded, `readLedgerAudit` does not show it. The caller still gets
    // the error.
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
  /** How many times the state of the audit has been written (`AuditState`). */
  readonly step: bigint;
  /**
   * The end of the last `recent` pass, or of the last whole audit if that was later. Null before
   * the first one. The pass or audit may have stopped at `faultsMax` faults.
   */
  readonly at: Date | null;
  readonly tenants: number;
  /**
   * The number of submissions verified by the last `full` pass or whole audit that has ended. 0
   * before the first one.
   */
  readonly submissions: number;
  /**
   * The faults of `AuditState`, at most 100. A fault that both passes have found is listed once.
   * The comment of `AuditState.faults` says when a fault is removed.
   */
  readonly faults: LedgerFault[];
  /** The time of the failure if the last audit failed, otherwise null. */
  readonly failedAt: Date | null;
  readonly error: string | null;
  /**
   * The end of the last `full` pass, or of the last whole audit if that was later. Null before the
   * first one.
   */
  readonly fullAt: Date | null;
  /**
   * The estimated share of the entries and submissions that the current pass over the whole ledger
   * has read, from 0 to 1.
   */
  readonly fullRatio: number;
}

/** Reads the state of the ledger audit. Null if the row of `ledger_audit` is missing. */
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

/**
 * The kinds of faults in the audit's own records. Such a fault is removed only when a full pass
 * ends.
 */
const ofAudit = ['checkpoint_forged', 'audit_state_forged'];

/**
 * Saves the result of a whole audit (`auditLedger`). The new faults replace the known faults. Only
 * known faults in the audit's own records (`ofAudit`) stay.
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
