import { runUntilClosed, type Lifecycle, type Logger } from '@svc/runtime';
import { makePartitions, sealAllKeyLimits, type Store } from '@svc/store';
import { type Auditing, createAuditor } from './ledger-audit.ts';
import { purge, type PurgeDeps } from './purge.ts';

/**
 * The interval at which missing partitions are created. Partitions are created three months ahead,
 * so a day without housekeeping does no harm.
 */
const partitionsIntervalMs = 3_600_000;
/** The interval at which the keys that an older service has created get the seal of their limits. */
const keyLimitsIntervalMs = 60_000;
const purgeIntervalMs = 60_000;
const auditPollMs = 60_000;

export interface Partitioning {
  readonly store: Store;
  readonly logger: Logger;
  readonly setPartitionsMissing: (count: number) => void;
}

export interface Housekeeping extends Auditing, Partitioning, PurgeDeps {}

/**
 * Creates missing partitions, sets the metrics of the last ledger audit, then starts the periodic
 * tasks. The tasks start even if an earlier step fails.
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
    logger.error(
      { err: error },
      'settlement could not check partitions or read the last ledger audit when it started; it tries again',
    );
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
    { name: 'key limits', intervalMs: keyLimitsIntervalMs, run: () => sealKeyLimits(housekeeping) },
    { name: 'purge', intervalMs: purgeIntervalMs, run: () => purge(housekeeping) },
  ];
  for (const task of tasks) runUntilClosed(lifecycle, { ...task, logger });
}

async function sealKeyLimits({ store, logger }: Partitioning): Promise<void> {
  const keys = await sealAllKeyLimits(store);
  if (keys > 0) logger.info({ keys }, 'sealed the limits of keys');
}

/**
 * Creates the missing partitions. Until a partition exists, its rows go to the default partition,
 * so no row is lost. Throws if Postgres is unreachable.
 */
export async function ensurePartitions(deps: Partitioning): Promise<void> {
  const { store, logger, setPartitionsMissing } = deps;
  // NaN means that the number is unknown. If `makePartitions` throws, the metric stays NaN.
  setPartitionsMissing(Number.NaN);
  const { made, missing, errors } = await makePartitions(store);
  setPartitionsMissing(missing.length);
  if (made.length > 0) logger.info({ made }, 'partitions created');
  for (const error of errors) logger.warn({ err: error }, 'a partition could not be created');
  if (missing.length > 0) logger.error({ missing }, 'partitions are missing');
}
