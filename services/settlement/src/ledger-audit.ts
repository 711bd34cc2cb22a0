import type { Logger } from '@svc/runtime';
import { type LedgerAuditStatus, readLedgerAudit, runLedgerAudit, type Store } from '@svc/store';

export interface Auditing {
  readonly store: Store;
  readonly logger: Logger;
  /** The number of known ledger faults. NaN if it is unknown whether there are faults. */
  readonly setLedgerFaults: (count: number) => void;
  /**
   * The end of the last audit that covered the newest ledger entries, in Unix seconds by the
   * database's clock. 0 if no such audit is known.
   */
  readonly setLedgerAuditedAt: (seconds: number) => void;
  readonly setLedgerFullAuditedAt: (seconds: number) => void;
  /**
   * The share of the ledger that the current full pass has read, from 0 to 1. 0 if the status is
   * missing.
   */
  readonly setLedgerFullAuditRatio: (ratio: number) => void;
  /** 1 if the last audit failed, or if its status is missing or cannot be read. Else 0. */
  readonly setLedgerAuditFailed: (failed: number) => void;
}

export interface Auditor {
  /**
   * Audits the ledger unless another process is doing so. With `isDueOnly`, audits only if an audit
   * is due. Always calls `show` at the end. Throws if the audit or `show` fails.
   */
  readonly audit: (options: { readonly isDueOnly: boolean }) => Promise<void>;
  /**
   * Sets the metrics to the result of the last audit, which any process may have run. Throws if
   * this result cannot be read.
   */
  readonly show: () => Promise<void>;
}

/**
 * The auditor remembers the last `step` that it read. If somebody puts back an earlier state of the
 * audit to hide a fault, the auditor reports a fault.
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
      // The other metrics keep their values.
      deps.setLedgerFaults(Number.NaN);
      deps.setLedgerAuditFailed(1);
      throw error;
    }
    showStatus(deps, status);
    const gone = goneFaults(last, status);
    if (gone.length > 0)
      logger.warn(
        { faults: gone },
        'faults that the ledger audit found before are no longer in its result',
      );
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
    if (faults.length === 0)
      logger.info({ tenants, submissions, fullRatio }, 'the ledger audit found no faults');
    else logger.error({ tenants, submissions, faults }, 'the ledger audit has found faults');
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
