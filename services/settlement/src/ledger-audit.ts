import type { Logger } from '@svc/runtime';
import { type LedgerAuditStatus, readLedgerAudit, runLedgerAudit, type Store } from '@svc/store';

export interface Auditing {
  readonly store: Store;
  readonly logger: Logger;
  /**
   * The number of known faults, or NaN if it is unknown whether there are faults. This is unknown
   * if the status is missing or cannot be read. If no fault is known, it is also unknown if the
   * last audit failed or no audit has ended.
   */
  readonly setLedgerFaults: (count: number) => void;
  /**
   * The end of the last pass over the new entries, or of a later whole audit: Unix time in seconds,
   * by the clock of the database. 0 if neither has ended, or if the status is missing. Not called
   * if the status cannot be read.
   */
  readonly setLedgerAuditedAt: (seconds: number) => void;
  readonly setLedgerFullAuditedAt: (seconds: number) => void;
  /**
   * The share of the ledger that the current audit of the whole ledger has read, from 0 to 1. 0 if
   * the status is missing.
   */
  readonly setLedgerFullAuditRatio: (ratio: number) => void;
  /** 1 if the last audit failed, or if its status is missing or cannot be read. Else 0. */
  readonly setLedgerAuditFailed: (failed: number) => void;
}

export interface Auditor {
  /**
   * Audits the ledger unless another process is doing so. With `isDueOnly`, audits only if an audit
   * is due. Always calls `show` at the end, even if the audit has failed. Throws if the audit or
   * `show` fails.
   */
  readonly audit: (options: { readonly isDueOnly: boolean }) => Promise<void>;
  /**
   * Sets the metrics to the result of the last audit, which any process may have run. Throws if
   * this result cannot be read.
   */
  readonly show: () => Promise<void>;
}

/**
 * The auditor remembers the number (`step`) of the last audit state that it has read. If somebody
 * restores an earlier state to hide a fault, the auditor reports the restored state as a fault.
 */
export function createAuditor(deps: Auditing): Auditor {
  const { store, logger } = deps;
  const holder = store.newId();
  let last: LedgerAuditStatus | null = null;

  async function show(): Promise<void> {
    let status: LedgerAuditStatus | null;
    try {
      status = await readLedgerAudit(store, last?.step ?? null);
    } catch (error) {
      deps.setLedgerFaults(Number.NaN);
      deps.setLedgerAuditFailed(1);
      throw error;
    }
    showStatus(deps, status);
    const gone = goneFaults(last, status);
    if (gone.length > 0)
      logger.warn({ faults: gone }, 'the ledger audit no longer finds faults that it found before');
    last = status ?? last;
  }

  async function auditOnce({ isDueOnly }: { readonly isDueOnly: boolean }): Promise<void> {
    let isDone = false;
    try {
      isDone = await runLedgerAudit(store, { holder, isDueOnly, notedStep: last?.step ?? null });
    } finally {
      await show();
    }
    if (!isDone || last === null) return;
    const { faults, tenants, submissions, fullRatio } = last;
    if (faults.length === 0) logger.info({ tenants, submissions, fullRatio }, 'the ledger adds up');
    else logger.error({ tenants, submissions, faults }, 'the ledger does not add up');
  }

  return { audit: auditOnce, show };
}

function showStatus(deps: Auditing, status: LedgerAuditStatus | null): void {
  const count = status?.faults.length ?? 0;
  const hasFailed = status === null || status.failedAt !== null;
  const isKnown = count > 0 || (!hasFailed && status.at !== null);
  deps.setLedgerFaults(isKnown ? count : Number.NaN);
  deps.setLedgerAuditFailed(Number(hasFailed));
  deps.setLedgerAuditedAt(secondsOf(status?.at));
  deps.setLedgerFullAuditedAt(secondsOf(status?.fullAt));
  deps.setLedgerFullAuditRatio(status?.fullRatio ?? 0);
}

function goneFaults(before: LedgerAuditStatus | null, now: LedgerAuditStatus | null): object[] {
  const found = new Set(now?.faults.map(({ kind, subject }) => `${kind} ${subject}`));
  return before?.faults.filter(({ kind, subject }) => !found.has(`${kind} ${subject}`)) ?? [];
}

function secondsOf(at: Date | null | undefined): number {
  return (at?.getTime() ?? 0) / 1_000;
}
