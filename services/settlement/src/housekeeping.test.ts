import { createLifecycle } from '@svc/runtime';
import { silent } from '@svc/startup/fixture';
import { queueWebhookTest } from '@svc/store';
import { lockTables } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { ensurePartitions, startHousekeeping } from './housekeeping.ts';
import { type Auditing, createAuditor } from './ledger-audit.ts';
import { createSettlementFixture, type SettlementFixture } from './settlement.fixture.ts';

const dayMs = 24 * 3_600_000;

async function createHousekeeping(timeZone?: string) {
  const fixture = await createSettlementFixture(timeZone === undefined ? {} : { timeZone });
  const lifecycle = createLifecycle(silent);
  onTestFinished(async () => {
    await lifecycle.close();
    await fixture.close();
  });
  const gauges: Record<string, number> = {};
  const deps = {
    store: fixture.store,
    logger: silent,
    retentionDays: 30,
    pageMax: 500,
    countPurged: () => {},
    setLedgerFaults: (count: number) => void (gauges['faults'] = count),
    setLedgerAuditedAt: (seconds: number) => void (gauges['auditedAt'] = seconds),
    setLedgerFullAuditedAt: (seconds: number) => void (gauges['fullAuditedAt'] = seconds),
    setLedgerFullAuditRatio: (ratio: number) => void (gauges['fullRatio'] = ratio),
    setLedgerAuditFailed: (failed: number) => void (gauges['failed'] = failed),
    setPartitionsMissing: (count: number) => void (gauges['missing'] = count),
  };
  return { fixture, deps, gauges, start: () => startHousekeeping(deps, lifecycle) };
}

/** Stores a usage report whose submission id contains the time `at`. */
async function report({ database }: SettlementFixture, at: string): Promise<void> {
  await database.query(
    'INSERT INTO usage_reports (submission_id, at) VALUES (svc_uuid_floor($1::timestamptz), svc_now())',
    [at],
  );
}

async function partitionOf({ database }: SettlementFixture, at: string): Promise<string> {
  const [row] = await database.query<{ name: string }>(
    'SELECT tableoid::regclass::text AS name FROM usage_reports WHERE submission_id = svc_uuid_floor($1::timestamptz)',
    [at],
  );
  return row?.name ?? 'none';
}

const setClock = ({ advance, database }: SettlementFixture, at: string) =>
  database
    .query<{ ms: number }>(
      'SELECT (extract(epoch FROM $1::timestamptz - svc_now()) * 1000)::float8 AS ms',
      [at],
    )
    .then(([row]) => advance(row?.ms ?? 0));

const audit = (deps: Auditing): Promise<void> => createAuditor(deps).audit({ isDueOnly: false });

test('the background audit reports the number of ledger faults and its time', async () => {
  const { fixture, deps, gauges } = await createHousekeeping();
  const tenantId = await fixture.tenant();
  await fixture.submission(tenantId, 'settling');
  await audit(deps);
  expect(gauges['faults']).toBe(0);
  const [saved] = await fixture.database.query<{ at: Date }>('SELECT at FROM ledger_verdict');
  expect(gauges['auditedAt']).toBe((saved?.at.getTime() ?? 0) / 1_000);
  await fixture.database.query('UPDATE credit_accounts SET balance_micros = balance_micros + 1');
  await audit(deps);
  expect(gauges['faults']).toBe(1);
});

test('a failed audit clears the count of the previous one and keeps its time', async () => {
  const { fixture, deps, gauges } = await createHousekeeping();
  await audit(deps);
  const { auditedAt } = gauges;
  expect(gauges['faults']).toBe(0);
  await fixture.database.query('ALTER TABLE ledger_entries RENAME TO ledger_entries_away');
  await expect(audit(deps)).rejects.toThrow(/ledger_entries/);
  expect(gauges).toMatchObject({ faults: Number.NaN, auditedAt, failed: 1 });
});

test('every process shows the faults and the failure of the one that audits', async () => {
  const { fixture, deps, gauges } = await createHousekeeping();
  const { database } = fixture;
  const other = createAuditor(deps);
  await fixture.tenant();
  await audit(deps);
  Object.assign(gauges, { faults: 5, failed: 5 });
  await other.audit({ isDueOnly: true });
  expect(gauges).toMatchObject({ faults: 0, failed: 0, fullRatio: 0 });
  expect(gauges['fullAuditedAt']).toBeGreaterThan(0);
  await database.query('ALTER TABLE ledger_entries RENAME TO ledger_entries_away');
  await expect(audit(deps)).rejects.toThrow(/ledger_entries/);
  await database.query('ALTER TABLE ledger_entries_away RENAME TO ledger_entries');
  Object.assign(gauges, { faults: 0, failed: 0 });
  await other.show();
  expect(gauges).toMatchObject({ faults: Number.NaN, failed: 1 });
  await database.query('UPDATE credit_accounts SET balance_micros = balance_micros + 1');
  await audit(deps);
  await other.show();
  expect(gauges).toMatchObject({ faults: 1, failed: 0 });
  await database.query('ALTER TABLE ledger_audit RENAME TO ledger_audit_away');
  await expect(other.show()).rejects.toThrow(/ledger_audit/);
  expect(gauges).toMatchObject({ faults: Number.NaN, failed: 1 });
});

test('a starting service shows the last verdict and its time, not a ledger without faults', async () => {
  const never = await createHousekeeping();
  await never.start();
  expect(never.gauges).toMatchObject({ faults: Number.NaN, auditedAt: 0 });
  const { fixture, deps, gauges, start } = await createHousekeeping();
  await fixture.tenant();
  await fixture.database.query('UPDATE credit_accounts SET balance_micros = balance_micros + 1');
  await audit(deps);
  const before = { ...gauges };
  Object.assign(gauges, { faults: 0, auditedAt: 0 });
  await start();
  expect(gauges).toMatchObject(before);
  expect(gauges['faults']).toBe(1);
});

test('a report from a host whose clock is months ahead does not block the partition of its month', async () => {
  const { fixture, gauges, start } = await createHousekeeping();
  await setClock(fixture, '2027-01-15T00:00Z');
  const stray = '2027-06-10T12:00Z';
  await report(fixture, stray);
  expect(await partitionOf(fixture, stray)).toBe('usage_reports_default');
  await setClock(fixture, '2027-04-20T00:00Z');
  await start();
  expect(gauges['missing']).toBe(0);
  expect(await partitionOf(fixture, stray)).toBe('usage_reports_2027_06');
  const left = await fixture.database.query('SELECT FROM usage_reports_default');
  expect(left).toEqual([]);
});

test('a dump that locks the tables delays the partition of the month and nothing else', async () => {
  const { fixture, deps, gauges, start } = await createHousekeeping();
  const tenantId = await fixture.tenant({ webhookUrl: 'https://hooks.example.com/svc' });
  const { ownerUrl } = fixture.database;
  const tables = ['usage_reports', 'deliveries', 'delivery_attempts'];
  const endDump = await lockTables(
    ownerUrl,
    tables.flatMap((table) => [table, `${table}_default`]),
    'ACCESS SHARE',
  );
  try {
    await fixture.advance(40 * dayMs);
    await start();
    expect(gauges['missing']).toBeGreaterThanOrEqual(tables.length);
    const queued = await queueWebhookTest(fixture.store, { tenantId, requestId: 'req-1' });
    expect(queued.kind).toBe('queued');
  } finally {
    await endDump();
  }
  await ensurePartitions(deps);
  expect(gauges['missing']).toBe(0);
});

test('a partition that cannot be created does not stop the others', async () => {
  const { fixture, deps, gauges } = await createHousekeeping();
  await fixture.advance(40 * dayMs);
  const { ownerUrl } = fixture.database;
  const release = await lockTables(ownerUrl, ['deliveries_default'], 'ACCESS SHARE');
  const countOf = async (table: string) =>
    (
      await fixture.database.query('SELECT FROM pg_inherits WHERE inhparent = $1::regclass', [
        table,
      ])
    ).length;
  const before = await countOf('delivery_attempts');
  try {
    await ensurePartitions(deps);
  } finally {
    await release();
  }
  expect(await countOf('delivery_attempts')).toBeGreaterThan(before);
  expect(gauges['missing']).toBe((await countOf('delivery_attempts')) - before);
});

test.each(['Europe/Berlin', 'America/New_York', 'Australia/Sydney'])(
  'on a server in %s every month has its own partition, all the year round',
  async (timeZone) => {
    const { fixture, gauges, start, deps } = await createHousekeeping(timeZone);
    const months = Array.from({ length: 12 }, (_, n) => new Date(Date.UTC(2027, n)).toISOString());
    await setClock(fixture, '2026-12-31T23:00Z');
    await start();
    for (const [n, first] of months.entries()) {
      const last = new Date(Date.UTC(2027, n + 1) - 1).toISOString();
      await setClock(fixture, first);
      await report(fixture, first);
      await ensurePartitions(deps);
      await report(fixture, last);
      const month = first.slice(0, 7).replace('-', '_');
      expect(await partitionOf(fixture, first)).toBe(`usage_reports_${month}`);
      expect(await partitionOf(fixture, last)).toBe(`usage_reports_${month}`);
    }
    expect(gauges['missing']).toBe(0);
  },
);
