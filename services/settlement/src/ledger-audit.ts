import type { Logger } from '@svc/runtime';
import { type LedgerAuditStatus, readLedgerAudit, runLedgerAudit, type Store } from '@svc/store';

export interface Auditing {
  readonly store: Store;
  readonly logger: Logger;
  /** NaN if no fault is known and the last audit failed, or none has ended. */
  readonly setLedgerFaults: (count: number) => void;
  /** Unix time in seconds, by the database's clock. 0 if no audit has ended. */
  readonly setLedgerAuditedAt: (seconds: number) => void;
  readonly setLedgerFullAuditedAt: (seconds: number) => void;
  /** The part of the ledger that the full pass has read, from 0 to 1. */
  readonly setLedgerFullAuditRatio: (ratio: number) => void;
  /** 1 if the last audit failed or its state cannot be read, else 0. */
  readonly setLedgerAuditFailed: (failed: number) => void;
}

export interface Auditor {
  /** Audits if no other process does, then shows the result. Throws if the audit fails. */
  readonly audit: (options: { readonly isDueOnly: boolean }) => Promise<void>;
  /** Shows the last audit, of any process. Throws if it cannot be read. */
  readonly show: () => Promise<void>;
}

/**
 * Creates the auditor of this process. It remembers the last state that it has read, so that an
 * earlier state that is put back does not hide a fault from it.
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
      // The faults of an earlier audit say nothing about the current ledger.
      deps.setLedgerFaults(Number.NaN);
      deps.setLedgerAuditFailed(1);
      throw error;
    }
    showStatus(deps, status);
    const gone = goneFaults(last, status);
    if (gone.length > 0) logger.warn({ faults: gone }, 'faults of the ledger are no longer found');
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
