import { ledgerAuditIntervalMs } from '@svc/domain';
import { runUntilClosed, type Lifecycle, type Logger } from '@svc/runtime';
import {
  auditLedger,
  makePartitions,
  readLedgerVerdict,
  saveLedgerVerdict,
  type Store,
} from '@svc/store';
import { purge, type PurgeDeps } from './purge.ts';

/** Partitions are created months ahead, so that a day without housekeeping does no harm. */
const partitionsIntervalMs = 3_600_000;
const purgeIntervalMs = 60_000;

export interface Auditing {
  readonly store: Store;
  readonly logger: Logger;
  readonly setLedgerFaults: (count: number) => void;
  /** Unix time in seconds, by the database's clock. */
  readonly setLedgerAuditedAt: (seconds: number) => void;
}

export interface Partitioning {
  readonly store: Store;
  readonly logger: Logger;
  readonly setPartitionsMissing: (count: number) => void;
}

export interface Housekeeping extends Auditing, Partitioning, PurgeDeps {}

/**
 * Starts the periodic tasks: the partitions of the coming months, beginning immediately, the audit
 * of the ledger, and the purge of personal data. A failure is logged as an error and shown by a
 * metric. It never stops the service from starting.
 */
export async function startHousekeeping(
  housekeeping: Housekeeping,
  lifecycle: Lifecycle,
): Promise<void> {
  const { store, logger, setLedgerFaults, setLedgerAuditedAt } = housekeeping;
  try {
    await ensurePartitions(housekeeping);
    const verdict = await readLedgerVerdict(store);
    setLedgerFaults(verdict?.faults ?? Number.NaN);
    setLedgerAuditedAt(secondsOf(verdict?.at ?? new Date(0)));
  } catch (error) {
    logger.error({ err: error }, 'housekeeping failed at the start and will be retried');
  }
  const tasks = [
    {
      name: 'partitions',
      intervalMs: partitionsIntervalMs,
      run: () => ensurePartitions(housekeeping),
    },
    { name: 'ledger audit', intervalMs: ledgerAuditIntervalMs, run: () => audit(housekeeping) },
    { name: 'purge', intervalMs: purgeIntervalMs, run: () => purge(housekeeping) },
  ];
  for (const task of tasks) runUntilClosed(lifecycle, { ...task, logger });
}

/**
 * Creates the missing partitions; exported for its test. While a partition is missing, its rows go
 * to the default partition, so that nothing is lost. Throws if the database cannot be asked.
 */
export async function ensurePartitions(deps: Partitioning): Promise<void> {
  const { store, logger, setPartitionsMissing } = deps;
  // A failed check must not leave the count of the previous one.
  setPartitionsMissing(Number.NaN);
  const { made, missing, errors } = await makePartitions(store);
  setPartitionsMissing(missing.length);
  if (made.length > 0) logger.info({ made }, 'partitions created');
  for (const error of errors) logger.warn({ err: error }, 'a partition could not be created');
  if (missing.length > 0) logger.error({ missing }, 'partitions are missing');
}

/** One audit; exported for its test. Throws if it cannot be completed. */
export async function audit(deps: Auditing): Promise<void> {
  const { store, logger, setLedgerFaults, setLedgerAuditedAt } = deps;
  try {
    const verdict = await auditLedger(store);
    const at = await saveLedgerVerdict(store, verdict);
    const { faults, tenants, submissions } = verdict;
    setLedgerFaults(faults.length);
    setLedgerAuditedAt(secondsOf(at));
    if (faults.length === 0) logger.info({ tenants, submissions }, 'the ledger adds up');
    else logger.error({ tenants, submissions, faults }, 'the ledger does not add up');
  } catch (error) {
    // The count of an earlier audit says nothing about the current ledger.
    setLedgerFaults(Number.NaN);
    throw error;
  }
}

function secondsOf(at: Date): number {
  return at.getTime() / 1_000;
}
