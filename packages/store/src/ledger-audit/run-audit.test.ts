import { testAuthor } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelSubmission } from '../endings/endings.ts';
import { insertGrant } from '../ledger/grants.ts';
import { auditLedger } from '../ledger/ledger-audit.ts';
import type { LedgerFault } from '../ledger/ledger-fault.ts';
import { createFixture, type Fixture, openFixture } from '../store.fixture.ts';
import { AuditLeaseLost, endAudit, takeAuditLease, writeStep } from './audit-lease.ts';
import { fullPassFrom } from './audit-state.ts';
import { rowsDueOf } from './full-pass.ts';
import {
  type LedgerAuditRun,
  readLedgerAudit,
  runLedgerAudit,
  saveWholeAudit,
} from './run-audit.ts';

const dayMs = 86_400_000;
/** Limits with which only the recent pass runs. */
const recentOnly = { pagesMin: 0, pagesMax: 0 };
const tinyPages = {
  accountsPerPage: 2,
  entriesPerPage: 2,
  submissionsPerPage: 2,
};

/** A test that uses this database must leave no fault behind. */
let shared: Awaited<ReturnType<typeof openFixture>>;
beforeAll(async () => {
  shared = await openFixture();
});
afterAll(() => shared.close());

async function auditOnce({ store }: Fixture, run: Partial<LedgerAuditRun> = {}) {
  const isDone = await runLedgerAudit(store, { holder: 'one', ...run });
  const status = await readLedgerAudit(store, run.notedStep ?? null);
  if (status === null) throw new Error('the audit has a state');
  return { ...status, isDone };
}

const sorted = (faults: readonly LedgerFault[]) =>
  faults.map((one) => JSON.stringify(one)).toSorted();
const kindsOf = (faults: readonly LedgerFault[]) =>
  [...new Set(faults.map(({ kind }) => kind))].toSorted();

/**
 * Disables the triggers of `ledger_entries` and runs statements, as a person with too many rights
 * could.
 */
async function corrupt({ database }: Fixture, ...statements: string[]): Promise<void> {
  await database.query('ALTER TABLE ledger_entries DISABLE TRIGGER USER');
  for (const sql of statements) await database.query(sql);
}

async function busyTenant(fixture: Fixture) {
  const tenantId = await fixture.tenant(1_000);
  const { id: cancelledId } = await fixture.hold(tenantId);
  await cancelSubmission(fixture.store, { submissionId: cancelledId, tenantId, by: 'tenant' });
  const { id: pendingId } = await fixture.hold(tenantId);
  return { tenantId, cancelledId, pendingId };
}

/**
 * Grants one micro-credit in a transaction that the caller commits. The entry's balance is wrong by
 * `balanceOff`.
 */
function lateGrant({ store }: Fixture, tenantId: string, balanceOff = 0) {
  const { promise: released, resolve: commit } = Promise.withResolvers<void>();
  const { promise: written, resolve: noteWritten } = Promise.withResolvers<void>();
  const done = store.transaction(async (query) => {
    const [purchaseId, reference] = [store.newId(), store.newId()];
    const grant = {
      purchaseId,
      tenantId,
      creditsMicros: 1n,
      reference,
      usdMicros: null,
      note: null,
    };
    if (balanceOff === 0) await insertGrant(store, query, grant, testAuthor);
    else {
      await query(
        `WITH a AS (UPDATE credit_accounts SET balance_micros = balance_micros + 1
           WHERE tenant_id = $1::uuid RETURNING *)
         INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
           balance_after_micros, held_after_micros, created_at)
         SELECT $2::uuid, tenant_id, 'grant', 'issuance', 'tenant_available', 1, balance_micros + $3, held_micros, svc_now()
         FROM a`,
        [tenantId, purchaseId, balanceOff],
      );
    }
    noteWritten();
    await released;
  });
  return {
    written,
    async commit() {
      commit();
      await done;
    },
  };
}

test('an entry that commits late, behind entries of other accounts, is audited by the next pass', async () => {
  const [early, late] = [await shared.tenant(10), await shared.tenant(10)];
  const grant = lateGrant(shared, late);
  await grant.written;
  const other = lateGrant(shared, early);
  await other.written;
  await other.commit();
  const before = await auditOnce(shared, { limits: recentOnly });
  await grant.commit();
  const after = await auditOnce(shared, { limits: recentOnly });
  expect([before.faults, after.faults]).toEqual([[], []]);
});

test('a wrong entry that commits late is found by the next pass', async () => {
  const fixture = await createFixture();
  const [early, late] = [await fixture.tenant(10), await fixture.tenant(10)];
  const grant = lateGrant(fixture, late, 1);
  await grant.written;
  const other = lateGrant(fixture, early);
  await other.written;
  await other.commit();
  expect(await auditOnce(fixture, { limits: recentOnly })).toMatchObject({ faults: [] });
  await grant.commit();
  const { faults } = await auditOnce(fixture, { limits: recentOnly });
  expect(faults).toMatchObject([{ kind: 'figures_differ_from_entries', tenantId: late }]);
});

test('what was changed behind a checkpoint is found by the full pass, as by an audit of the whole ledger', async () => {
  const fixture = await createFixture();
  const [held, balance, missing, orphan, charged, forged] = [
    await busyTenant(fixture),
    await busyTenant(fixture),
    await busyTenant(fixture),
    await busyTenant(fixture),
    await busyTenant(fixture),
    await busyTenant(fixture),
  ];
  await fixture.tenant(0);
  const clean = await auditOnce(fixture, { limits: tinyPages });
  expect(clean).toMatchObject({ isDone: true, faults: [], tenants: 7, failedAt: null });
  await corrupt(
    fixture,
    'ALTER TABLE submissions DROP CONSTRAINT submissions_charge_within_hold',
    'ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_movement',
    `UPDATE submissions SET state = 'rejected', finished_at = svc_now() WHERE id = '${held.pendingId}'`,
    `UPDATE credit_accounts SET balance_micros = balance_micros + 1 WHERE tenant_id = '${balance.tenantId}'`,
    `UPDATE credit_accounts SET in_flight = in_flight + 1 WHERE tenant_id = '${balance.tenantId}'`,
    `DELETE FROM ledger_entries WHERE submission_id = '${missing.cancelledId}' AND type = 'release'`,
    `DELETE FROM submissions WHERE id = '${orphan.cancelledId}'`,
    `UPDATE submissions SET charged_micros = quote_max_micros + 1 WHERE id = '${charged.cancelledId}'`,
    `UPDATE ledger_entries SET debit_account = 'revenue' WHERE tenant_id = '${forged.tenantId}' AND type = 'grant'`,
  );
  const whole = (await auditLedger(fixture.store)).faults;
  expect(kindsOf(whole)).toHaveLength(8);
  const recent = await auditOnce(fixture, { limits: recentOnly });
  expect(kindsOf(recent.faults)).toEqual([
    'account_differs_from_entries',
    'held_differs_from_holds',
    'in_flight_differs_from_holds',
  ]);
  // Audits until two full passes have ended, because the first one may have read a part of the
  // ledger before `corrupt` changed it.
  for (let parts = 0, ended = 0; ended < 2; parts += 1) {
    const before = await readLedgerAudit(fixture.store);
    const now = await auditOnce(fixture, { limits: { ...tinyPages, pagesMin: 3, pagesMax: 3 } });
    if (now.fullAt?.getTime() !== before?.fullAt?.getTime()) ended += 1;
    expect(parts).toBeLessThan(30);
  }
  const { faults } = await auditOnce(fixture, { limits: recentOnly });
  expect(sorted(faults)).toEqual(sorted(whole));
});

test('a fault behind a checkpoint stays until a full pass has ended without it', async () => {
  const fixture = await createFixture();
  const { cancelledId } = await busyTenant(fixture);
  await auditOnce(fixture);
  const change = (by: number) =>
    `UPDATE ledger_entries SET balance_after_micros = balance_after_micros + ${by}
     WHERE submission_id = '${cancelledId}' AND type = 'release'`;
  await corrupt(fixture, change(1));
  expect(await auditOnce(fixture, { limits: recentOnly })).toMatchObject({ faults: [] });
  const found = [{ kind: 'figures_differ_from_entries' }];
  expect(await auditOnce(fixture)).toMatchObject({ faults: found });
  await corrupt(fixture, change(-1));
  expect(await auditOnce(fixture, { limits: recentOnly })).toMatchObject({ faults: found });
  expect(await auditOnce(fixture)).toMatchObject({ faults: [] });
  await corrupt(fixture, change(1));
  await saveWholeAudit(fixture.store, await auditLedger(fixture.store));
  expect(await readLedgerAudit(fixture.store)).toMatchObject({ faults: found });
  await corrupt(fixture, change(-1));
  await saveWholeAudit(fixture.store, await auditLedger(fixture.store));
  expect(await readLedgerAudit(fixture.store)).toMatchObject({ faults: [] });
});

test('a faulty account keeps its checkpoint, so that every pass finds the fault again', async () => {
  const fixture = await createFixture();
  const [good, bad] = [await fixture.tenant(10), await fixture.tenant(10)];
  await auditOnce(fixture, { limits: recentOnly });
  for (const off of [1, 0, 0]) {
    const grant = lateGrant(fixture, bad, off);
    await grant.written;
    await grant.commit();
  }
  const sealedOf = () =>
    fixture.database.query('SELECT sealed FROM ledger_checkpoints WHERE tenant_id = $1', [bad]);
  const before = await sealedOf();
  const limits = { ...tinyPages, ...recentOnly };
  const first = await auditOnce(fixture, { limits });
  const second = await auditOnce(fixture, { limits });
  expect(first.faults).toMatchObject([{ kind: 'figures_differ_from_entries', tenantId: bad }]);
  expect(second.faults).toEqual(first.faults);
  expect(await sealedOf()).toEqual(before);
  expect(good).not.toBe(bad);
});

test('one process audits at a time, and the next one when it is due by the clock of the database', async () => {
  const holders = ['a', 'b', 'c', 'd'];
  const runAll = () =>
    Promise.all(
      holders.map((holder) =>
        runLedgerAudit(shared.store, { holder, isDueOnly: true, limits: recentOnly }),
      ),
    );
  await shared.advance(dayMs);
  expect((await runAll()).filter(Boolean)).toHaveLength(1);
  expect(await runAll()).toEqual([false, false, false, false]);
  await shared.advance(301_000);
  expect((await runAll()).filter(Boolean)).toHaveLength(1);
});

test('a process that lost its lease writes nothing', async () => {
  const { store, database } = shared;
  const tenantId = await shared.tenant(10);
  const wanted = { isDueOnly: false, notedStep: null };
  const stale = await takeAuditLease(store, { holder: 'stale', ...wanted });
  expect(await takeAuditLease(store, { holder: 'other', ...wanted })).toBeNull();
  await shared.advance(61_000);
  const fresh = await takeAuditLease(store, { holder: 'other', ...wanted });
  if (stale === null || fresh === null) throw new Error('both were leased');
  const sealed = new Uint8Array([1]);
  await expect(writeStep(store, stale, (state) => state, [{ tenantId, sealed }])).rejects.toThrow(
    AuditLeaseLost,
  );
  const rows = await database.query('SELECT FROM ledger_checkpoints WHERE tenant_id = $1', [
    tenantId,
  ]);
  expect(rows).toEqual([]);
  await expect(endAudit(store, stale)).rejects.toThrow(AuditLeaseLost);
  // The lost audit has not ended the one that is in progress.
  expect(await takeAuditLease(store, { holder: 'third', ...wanted })).toBeNull();
  await writeStep(store, fresh, (state) => state);
  await endAudit(store, fresh);
  expect(await takeAuditLease(store, { holder: 'third', ...wanted })).not.toBeNull();
  await shared.advance(61_000);
});

test.each([
  ['lease_expires_at', `'infinity'`],
  ['due_at', `'infinity'`],
])('a time in %s that never comes does not stop the audit', async (column, value) => {
  await shared.advance(dayMs);
  await shared.database.query(`UPDATE ledger_audit SET ${column} = ${value}`);
  expect(await auditOnce(shared, { isDueOnly: true, limits: recentOnly })).toMatchObject({
    isDone: true,
  });
});

test('a checkpoint that the service did not seal for this account is a fault, and is not trusted', async () => {
  const fixture = await createFixture();
  const [one, two] = [await fixture.tenant(10), await fixture.tenant(20)];
  await auditOnce(fixture);
  await fixture.database.query(
    `UPDATE ledger_checkpoints SET sealed = (SELECT sealed FROM ledger_checkpoints WHERE tenant_id = $1)
     WHERE tenant_id = $2`,
    [one, two],
  );
  const fault = { kind: 'checkpoint_forged', subject: two };
  expect(await auditOnce(fixture, { limits: recentOnly })).toMatchObject({ faults: [fault] });
  expect(await auditOnce(fixture, { limits: recentOnly })).toMatchObject({ faults: [fault] });
  await auditOnce(fixture);
  expect(await auditOnce(fixture)).toMatchObject({ faults: [] });
});

test('an audit state that was changed, removed or put back is a fault, and hides none', async () => {
  const fixture = await createFixture();
  const { database } = fixture;
  await fixture.tenant(10);
  const { step } = await auditOnce(fixture);
  const [kept] = await database.query<{ step: string; state_sealed: Uint8Array }>(
    'SELECT step, state_sealed FROM ledger_audit',
  );
  const noted = (await auditOnce(fixture)).step;
  const forged = { faults: [{ kind: 'audit_state_forged' }] };
  const putBack = () =>
    database.query('UPDATE ledger_audit SET step = $1, state_sealed = $2', [
      kept?.step,
      kept?.state_sealed,
    ]);
  await putBack();
  expect(await readLedgerAudit(fixture.store, noted)).toMatchObject(forged);
  expect(await readLedgerAudit(fixture.store, step)).toMatchObject({ faults: [] });
  for (const change of [
    'step = step + 1',
    `state_sealed = decode('00', 'hex')`,
    'state_sealed = NULL',
    'state_sealed = NULL, step = 0',
  ]) {
    await putBack();
    await database.query(`UPDATE ledger_audit SET ${change}`);
    expect({ change, ...(await readLedgerAudit(fixture.store)) }).toMatchObject({
      change,
      ...forged,
    });
  }
  expect(await auditOnce(fixture, { limits: recentOnly })).toMatchObject(forged);
  await auditOnce(fixture);
  expect(await auditOnce(fixture)).toMatchObject({ faults: [] });
});

test('a failed audit is shown to every process until one has ended', async () => {
  const fixture = await createFixture();
  const { database } = fixture;
  await auditOnce(fixture);
  await database.query('ALTER TABLE ledger_entries RENAME TO ledger_entries_away');
  await fixture.tenant(0);
  await expect(auditOnce(fixture)).rejects.toThrow('ledger_entries');
  await database.query('ALTER TABLE ledger_entries_away RENAME TO ledger_entries');
  expect(await readLedgerAudit(fixture.store)).toMatchObject({
    failedAt: expect.any(Date),
    error: expect.stringContaining('ledger_entries'),
  });
  // After a failure, the next audit is due at once.
  expect(await auditOnce(fixture, { isDueOnly: true })).toMatchObject({
    isDone: true,
    failedAt: null,
    error: null,
  });
});

test('a full pass is spread over a day, and one that is late reads as much as it may', () => {
  const startedAt = new Date('2026-11-22T00:00Z');
  const due = (hours: number, rows: number) =>
    rowsDueOf(fullPassFrom(1, startedAt), new Date(startedAt.getTime() + hours * 3_600_000), rows);
  expect(due(0, 2_880_000)).toBe(10_000);
  expect(due(12, 2_880_000)).toBe(1_450_000);
  expect(due(24, 2_880_000)).toBe(Number.POSITIVE_INFINITY);
});
