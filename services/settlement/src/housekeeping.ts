import { every, type Lifecycle, type Logger } from '@svc/runtime';
import { auditLedger, ensurePartitions, type Store } from '@svc/store';

/** Partitions are made months ahead, so that a day without housekeeping is no harm. */
const partitionsIntervalMs = 3_600_000;
const auditIntervalMs = 300_000;

export interface Housekeeping {
  readonly store: Store;
  readonly logger: Logger;
  readonly setLedgerFaults: (count: number) => void;
}

/**
 * What nobody asks for and somebody must do: the partitions of the coming months, beginning now,
 * and the audit of the ledger, whose findings are a metric and an error in the log.
 */
export async function startHousekeeping(
  { store, logger, setLedgerFaults }: Housekeeping,
  lifecycle: Lifecycle,
): Promise<void> {
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
    run: () => audit({ store, logger, setLedgerFaults }),
    logger,
  });
  lifecycle.add('ledger audit', () => audits.close());
}

/** One audit; exported for its test. */
export async function audit({ store, logger, setLedgerFaults }: Housekeeping): Promise<void> {
  const { faults, tenants, submissions } = await auditLedger(store);
  setLedgerFaults(faults.length);
  if (faults.length === 0) logger.info({ tenants, submissions }, 'the ledger adds up');
  else logger.error({ tenants, submissions, faults }, 'the ledger does not add up');
}
