import { expect, test } from 'vitest';
import { commitRunning } from '../assignments/begin.ts';
import { commitDispatched } from '../assignments/dispatch.ts';
import { storeOutcome } from '../assignments/outcomes.ts';
import { cancelSubmission, settle } from '../endings/endings.ts';
import { createFixture, type Fixture, usage } from '../store.fixture.ts';
import { auditLedger } from './ledger-audit.ts';
import type { LedgerFault } from './ledger-fault.ts';

async function busyLedger(fixture: Fixture) {
  const { store, tenant, node, hold } = fixture;
  const tenants = [await tenant(1_000), await tenant(1_000), await tenant(0)];
  const nodeId = await node();
  for (const tenantId of tenants.slice(0, 2)) {
    const { id: submissionId } = await hold(tenantId);
    await commitDispatched(store, { submissionId, nodeId });
    await commitRunning(store, { submissionId, nodeId });
    const outcome = { kind: 'completed', usage: usage({ actions: '8' }), result: {} } as const;
    await storeOutcome(store, { submissionId, nodeId, outcome });
    await settle(store, [submissionId]);
    const cancelled = await hold(tenantId);
    await cancelSubmission(store, { submissionId: cancelled.id, tenantId, by: 'tenant' });
    await hold(tenantId);
  }
  const [tenantId = ''] = tenants;
  return { tenantId };
}

/**
 * Returns the kinds of the faults in the ledger. Also checks that other page sizes find the same
 * faults.
 */
const kinds = async ({ store }: Fixture) => {
  const whole = await auditLedger(store);
  for (const [entriesPerPage, accountsPerPage] of [
    [1, 10],
    [3, 1],
  ] as const) {
    const pages = { entriesPerPage, accountsPerPage, submissionsPerPage: 2 };
    const paged = await auditLedger(store, pages);
    expect(sorted(paged.faults)).toEqual(sorted(whole.faults));
    expect(paged.tenants).toBe(whole.tenants);
  }
  return [...new Set(whole.faults.map(({ kind }) => kind))].toSorted();
};

const sorted = (faults: readonly LedgerFault[]) =>
  faults.map((one) => JSON.stringify(one)).toSorted();

/**
 * Disables the triggers of `ledger_entries` and runs a statement, as a person with too many rights
 * could. The triggers stay disabled.
 */
async function corrupt(fixture: Fixture, sql: string): Promise<void> {
  await fixture.database.query('ALTER TABLE ledger_entries DISABLE TRIGGER USER');
  await fixture.database.query(sql);
}

test('a correct ledger has no fault at any page size', async () => {
  const fixture = await createFixture();
  await busyLedger(fixture);
  expect(await auditLedger(fixture.store)).toEqual({ tenants: 3, submissions: 6, faults: [] });
  expect(await kinds(fixture)).toEqual([]);
});

test('an account that is not the sum of its entries is found', async () => {
  const fixture = await createFixture();
  const { tenantId } = await busyLedger(fixture);
  await corrupt(
    fixture,
    `UPDATE credit_accounts SET balance_micros = balance_micros + 1 WHERE tenant_id = '${tenantId}'`,
  );
  expect(await kinds(fixture)).toEqual(['account_differs_from_entries']);
});

test('credit that is held without a submission in flight is found', async () => {
  const fixture = await createFixture();
  await busyLedger(fixture);
  await corrupt(
    fixture,
    `UPDATE submissions SET state = 'rejected', finished_at = svc_now() WHERE state = 'pending'`,
  );
  expect(await kinds(fixture)).toEqual(['held_differs_from_holds', 'hold_not_ended_once']);
});

test('an in-flight count that differs from the holds is found', async () => {
  const fixture = await createFixture();
  const { tenantId } = await busyLedger(fixture);
  await corrupt(
    fixture,
    `UPDATE credit_accounts SET in_flight = in_flight + 1 WHERE tenant_id = '${tenantId}'`,
  );
  expect(await kinds(fixture)).toEqual(['in_flight_differs_from_holds']);
});

test('a missing or changed entry is found', async () => {
  const fixture = await createFixture();
  await busyLedger(fixture);
  await corrupt(
    fixture,
    `DELETE FROM ledger_entries WHERE id = (SELECT id FROM ledger_entries WHERE type = 'charge' LIMIT 1)`,
  );
  expect(await kinds(fixture)).toEqual([
    'account_differs_from_entries',
    'figures_differ_from_entries',
    'hold_not_ended_once',
  ]);
});

test('balances that do not follow from the earlier entries are found', async () => {
  const fixture = await createFixture();
  await busyLedger(fixture);
  await corrupt(
    fixture,
    `UPDATE ledger_entries SET held_after_micros = held_after_micros + 1 WHERE type = 'hold'`,
  );
  expect(await kinds(fixture)).toEqual(['figures_differ_from_entries']);
});

test('a movement between accounts that do not match its type is found', async () => {
  const fixture = await createFixture();
  await busyLedger(fixture);
  await fixture.database.query(
    'ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_movement',
  );
  await corrupt(
    fixture,
    `UPDATE ledger_entries SET debit_account = 'revenue' WHERE type = 'grant'`,
  );
  expect(await kinds(fixture)).toEqual(['movement_not_allowed']);
});

test('a charge above its hold is found', async () => {
  const fixture = await createFixture();
  await busyLedger(fixture);
  await fixture.database.query(
    'ALTER TABLE submissions DROP CONSTRAINT submissions_charge_within_hold',
  );
  await corrupt(
    fixture,
    `UPDATE submissions SET charged_micros = quote_max_micros + 1 WHERE state = 'submitted'`,
  );
  expect(await kinds(fixture)).toEqual(['charged_above_hold']);
});

test('an entry whose submission does not exist is found', async () => {
  const fixture = await createFixture();
  await busyLedger(fixture);
  await corrupt(fixture, `DELETE FROM submissions WHERE state = 'cancelled'`);
  expect(await kinds(fixture)).toEqual(['entry_without_submission']);
});
