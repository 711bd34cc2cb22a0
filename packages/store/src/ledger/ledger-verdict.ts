import { assertInvariant } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import type { LedgerAudit } from './ledger-audit.ts';

/** The result of the last ledger audit. */
export interface LedgerVerdict {
  at: Date;
  tenants: number;
  submissions: number;
  faults: number;
}

/** Returns the time at which it was saved, by the database's clock. */
export async function saveLedgerVerdict(
  store: Store,
  { tenants, submissions, faults }: LedgerAudit,
): Promise<Date> {
  const [row] = await store.query<{ at: Date }>(
    `INSERT INTO ledger_verdict (id, at, tenants, submissions, faults)
     VALUES (1, svc_now(), $1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET at = EXCLUDED.at, tenants = EXCLUDED.tenants,
       submissions = EXCLUDED.submissions, faults = EXCLUDED.faults
     RETURNING at`,
    [tenants, submissions, faults.length],
  );
  assertInvariant(row !== undefined, 'a saved verdict has a time');
  return row.at;
}

/** Null before the first audit. */
export async function readLedgerVerdict(store: Store): Promise<LedgerVerdict | null> {
  const [row] = await store.query<LedgerVerdict>(
    'SELECT at, tenants, submissions, faults FROM ledger_verdict WHERE id = 1',
    [],
  );
  return row ?? null;
}
