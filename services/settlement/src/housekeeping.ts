import { runUntilClosed, type Lifecycle, type Logger } from '@svc/runtime';
import { makePartitions, type Store } from '@svc/store';
import { type Auditing, createAuditor } from './ledger-audit.ts';
import { purge, type PurgeDeps } from './purge.ts';

/** Partitions are created months ahead, so that a day without housekeeping does no harm. */
const partitionsIntervalMs = 3_600_000;
const purgeIntervalMs = 60_000;
/** How often a process asks whether an audit is due, and shows the last one. */
const auditPollMs = 60_000;

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
  const { logger } = housekeeping;
  const auditor = createAuditor(housekeeping);
  try {
    await ensurePartitions(housekeeping);
    await auditor.show();
  } catch (error) {
    logger.error({ err: error }, 'housekeeping failed at the start and will be retried');
  }
  const tasks = [
    {
      name: 'partitions',
      intervalMs: partitionsIntervalMs,
      run: () => ensurePartitions(housekeeping),
    },
    {
      name: 'ledger audit',
      intervalMs: auditPollMs,
      run: () => auditor.audit({ isDueOnly: true }),
    },
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
