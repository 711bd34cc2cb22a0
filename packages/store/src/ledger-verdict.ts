import type { LedgerAudit } from './ledger-audit.ts';
import type { Store } from './store.ts';

/** What the auditor found last, for whoever asks how the ledger stands. */
export interface LedgerVerdict {
  at: Date;
  tenants: number;
  submissions: number;
  faults: number;
}

export async function saveLedgerVerdict(
  store: Store,
  { tenants, submissions, faults }: LedgerAudit,
): Promise<void> {
  await store.db.$executeRaw`
    INSERT INTO ledger_verdict (id, at, tenants, submissions, faults)
    VALUES (1, svc_now(), ${tenants}, ${submissions}, ${faults.length})
    ON CONFLICT (id) DO UPDATE SET at = EXCLUDED.at, tenants = EXCLUDED.tenants,
      submissions = EXCLUDED.submissions, faults = EXCLUDED.faults`;
}

/** Null before the first audit. */
export async function readLedgerVerdict(store: Store): Promise<LedgerVerdict | null> {
  const [row] = await store.db.$queryRaw<LedgerVerdict[]>`
    SELECT at, tenants, submissions, faults FROM ledger_verdict WHERE id = 1`;
  return row ?? null;
}
