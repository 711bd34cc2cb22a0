import { silent } from '@svc/startup/fixture';
import { makePartitions } from '@svc/store';
import { lockTables } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { type RetentionDeps, retain } from './retention.ts';
import { createSettlementFixture } from './settlement.fixture.ts';

const dayMs = 24 * 3_600_000;

async function createRetention() {
  const fixture = await createSettlementFixture();
  onTestFinished(() => fixture.close());
  await fixture.database.query(
    `INSERT INTO events (id, tenant_id, type, body_sealed, created_at)
     VALUES (svc_uuid_floor(svc_now()), gen_random_uuid(), 'webhook.test', '\\x00', svc_now())`,
  );
  await fixture.advance(120 * dayMs);
  await makePartitions(fixture.store);
  const seen = { overdue: -1, deleted: 0 };
  const deps: RetentionDeps = {
    store: fixture.store,
    logger: silent,
    usageDays: 30,
    deliveryDays: 30,
    setPartitionsOverdue: (count) => void (seen.overdue = count),
    countEventsDeleted: (count) => void (seen.deleted += count),
  };
  return { fixture, deps, seen };
}

test('a round drops what is old and shows that nothing is overdue', async () => {
  const { fixture, deps, seen } = await createRetention();
  await retain(deps);
  expect(seen).toEqual({ overdue: 0, deleted: 1 });
  const [old] = await fixture.database.query<{ count: number }>(
    `SELECT count(*)::int FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE c.relname LIKE 'deliveries_' || to_char(svc_now() - interval '120 days', 'YYYY_MM')`,
  );
  expect(old).toEqual({ count: 0 });
  await retain(deps);
  expect(seen).toEqual({ overdue: 0, deleted: 1 });
});

test('a round that cannot drop a partition shows it, deletes the events and fails', async () => {
  const { fixture, deps, seen } = await createRetention();
  const { ownerUrl } = fixture.database;
  const release = await lockTables(ownerUrl, ['usage_reports'], 'ACCESS SHARE');
  try {
    await expect(retain({ ...deps, lockPauses: { attemptsMax: 1, pauseMs: 0 } })).rejects.toThrow(
      'old partitions could not be dropped',
    );
  } finally {
    await release();
  }
  expect(seen.overdue).toBeGreaterThan(0);
  expect(seen.deleted).toBe(1);
});

test('a round that cannot ask the database shows no count of the round before', async () => {
  const { fixture, deps, seen } = await createRetention();
  await fixture.database.query('ALTER FUNCTION svc_drop_partition RENAME TO svc_drop_away');
  await fixture.database.query('ALTER FUNCTION svc_delete_events RENAME TO svc_delete_away');
  const failed = await retain(deps).catch((error: unknown) => error);
  expect(failed).toMatchObject({ message: expect.stringContaining('svc_delete_events') });
  const parts = failed instanceof AggregateError ? failed.errors.map(String) : [];
  expect(parts.slice(1)).toContainEqual(expect.stringContaining('svc_drop_partition'));
  expect(seen.overdue).toBeGreaterThan(0);
  await fixture.database.query('ALTER TABLE deliveries RENAME TO deliveries_away');
  await fixture.database.query('ALTER FUNCTION svc_now RENAME TO svc_now_away');
  await expect(retain(deps)).rejects.toThrow(/svc_now/);
  expect(seen.overdue).toBeNaN();
});
