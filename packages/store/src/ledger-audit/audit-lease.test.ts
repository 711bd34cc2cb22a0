import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { takeWatcherLease } from '../purchase-intents/lease.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { takeAuditLease } from './audit-lease.ts';

const leases = [
  {
    table: 'solana_watcher',
    take: ({ store }: Fixture) => takeWatcherLease(store, { holder: 'late', leaseMs: 10_000 }),
    takenMs: 10_000,
  },
  {
    table: 'ledger_audit',
    take: ({ store }: Fixture) =>
      takeAuditLease(store, { holder: 'late', isDueOnly: false, notedStep: null }),
    takenMs: 60_000,
  },
];

test.each(leases)(
  'a process that waits while another one takes the lease of $table does not take it too',
  async ({ table, take, takenMs }) => {
    const fixture = await createFixture();
    const other = await beginOther(fixture);
    await other.query(`SELECT FROM ${table} WHERE id = 1 FOR UPDATE`);
    const late = take(fixture);
    await untilLockWait(fixture);
    await other.query(
      `UPDATE ${table} SET epoch = epoch + 1, holder = 'first',
         lease_expires_at = svc_now() + ${takenMs} * interval '1 millisecond' WHERE id = 1`,
    );
    await other.commit();
    expect(await late).toBeNull();
  },
);
