import { every, type Lifecycle, type Logger } from '@svc/runtime';
import { auditLedger, ensurePartitions, saveLedgerVerdict, type Store } from '@svc/store';
import { purge, type PurgeDeps } from './purge.ts';

/** Partitions are made months ahead, so that a day without housekeeping is no harm. */
const partitionsIntervalMs = 3_600_000;
const auditIntervalMs = 300_000;
const purgeIntervalMs = 60_000;

export interface Auditing {
  readonly store: Store;
  readonly logger: Logger;
  readonly setLedgerFaults: (count: number) => void;
}

export interface Housekeeping extends Auditing, PurgeDeps {}

/**
 * What nobody asks for and somebody must do: the partitions of the coming months, beginning now,
 * the audit of the ledger, whose findings are a metric and an error in the log, and the end of
 * personal data.
 */
export async function startHousekeeping(
  housekeeping: Housekeeping,
  lifecycle: Lifecycle,
): Promise<void> {
  const { store, logger } = housekeeping;
  const makePartitions = async (): Promise<void> => {
    const created = await ensurePartitions(store);
    if (created > 0) logger.info({ created }, 'partitions created');
  };
  await makePartitions();
  const partitions = every({
    name: 'partitions',
    intervalMs: partitionsIntervalMs,
    run: makePartitions,
    logger,
  });
  lifecycle.add('partitions', () => partitions.close());
  const audits = every({
    name: 'ledger audit',
    intervalMs: auditIntervalMs,
    run: () => audit(housekeeping),
    logger,
  });
  lifecycle.add('ledger audit', () => audits.close());
  const purges = every({
    name: 'purge',
    intervalMs: purgeIntervalMs,
    run: () => purge(housekeeping),
    logger,
  });
  lifecycle.add('purge', () => purges.close());
}

/** One audit; exported for its test. */
export async function audit({ store, logger, setLedgerFaults }: Auditing): Promise<void> {
  const verdict = await auditLedger(store);
  await saveLedgerVerdict(store, verdict);
  const { faults, tenants, submissions } = verdict;
  setLedgerFaults(faults.length);
  if (faults.length === 0) logger.info({ tenants, submissions }, 'the ledger adds up');
  else logger.error({ tenants, submissions, faults }, 'the ledger does not add up');
}
