import type { Store } from '../connection/store.ts';

export interface LedgerVerdict {
  readonly at: Date;
  readonly tenants: number;
  readonly submissions: number;
  readonly faults: number;
}

/**
 * Saves the summary of a ledger audit for services of the previous version. This version does not
 * read the summary, because the services' database role could forge it.
 */
export async function saveLedgerVerdict(
  store: Store,
  { at, tenants, submissions, faults }: LedgerVerdict,
): Promise<void> {
  await store.query(
    `INSERT INTO ledger_verdict (id, at, tenants, submissions, faults)
     VALUES (1, $1::timestamptz, $2, $3, $4)
     ON CONFLICT (id) DO UPDATE SET at = EXCLUDED.at, tenants = EXCLUDED.tenants,
       submissions = EXCLUDED.submissions, faults = EXCLUDED.faults`,
    [at, tenants, submissions, faults],
  );
}
