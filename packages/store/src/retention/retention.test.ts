import { randomUUID } from 'node:crypto';
import { lockTables } from '@svc/testkit';
import { expect, test } from 'vitest';
import { isLockTimeout } from '../connection/errors.ts';
import { makePartitions } from '../schema/partitions.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { deleteExpiredEvents, dropExpiredPartitions, expiredEventsBefore } from './retention.ts';

const dayMs = 24 * 3_600_000;
const days = { usageDays: 60, deliveryDays: 60 };
type Status = 'pending' | 'queued' | 'waiting' | 'delivered';
const impatient = { attemptsMax: 1, pauseMs: 0 };

async function targetOf(database: Fixture['database'], status: Status): Promise<string | null> {
  if (status === 'pending' || status === 'delivered') return null;
  const kind = status === 'queued' ? 'push' : 'poll';
  const [row] = await database.query<{ id: string }>(
    `WITH tenant AS (INSERT INTO tenants (id, name, created_at) VALUES (gen_random_uuid(), 'Works', svc_now()) RETURNING id)
     INSERT INTO webhook_endpoints (id, tenant_id, kind, url, secret_sealed, created_at)
     SELECT gen_random_uuid(), id, $1, CASE $1 WHEN 'push' THEN 'https://hooks.example.com' END, '\\x00', svc_now()
     FROM tenant RETURNING id`,
    [kind],
  );
  return row?.id ?? null;
}

async function deliver({ database }: Fixture, status: Status) {
  const ids = await database.query<{ id: string }>(
    `SELECT overlay(svc_uuid_floor(svc_now())::text PLACING right(gen_random_uuid()::text, 12) FROM 25) AS id
     FROM generate_series(1, 3)`,
  );
  const [eventId = '', deliveryId = '', submissionId = ''] = ids.map(({ id }) => id);
  await database.query(
    `INSERT INTO events (id, tenant_id, type, body_sealed, created_at)
     VALUES ($1, $2, 'webhook.test', '\\x00', svc_now())`,
    [eventId, randomUUID()],
  );
  await database.query(
    `INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, finished_at, created_at, round_started_at,
       target_id, endpoint_id)
     VALUES ($1, $2, $3, 'webhook.test', $4, CASE WHEN $4 IN ('pending', 'queued') THEN svc_now() END,
       CASE WHEN $4 = 'delivered' THEN svc_now() END, svc_now(), svc_now(), $5, $5)`,
    [deliveryId, randomUUID(), eventId, status, await targetOf(database, status)],
  );
  await database.query(
    'INSERT INTO delivery_attempts (delivery_id, round, number, at) VALUES ($1, 1, 1, svc_now())',
    [deliveryId],
  );
  await database.query('INSERT INTO usage_reports (submission_id, at) VALUES ($1, svc_now())', [
    submissionId,
  ]);
  return { deliveryId, submissionId };
}

async function counts({ database }: Fixture): Promise<Record<string, number>> {
  const [row] = await database.query<Record<string, number>>(
    `SELECT (SELECT count(*)::int FROM events) AS events, (SELECT count(*)::int FROM deliveries) AS deliveries,
       (SELECT count(*)::int FROM delivery_attempts) AS attempts, (SELECT count(*)::int FROM usage_reports) AS usage`,
  );
  return row ?? {};
}

async function deleteEvents({ store }: Fixture): Promise<number> {
  let deleted = 0;
  let after: string | null = null;
  const before = await expiredEventsBefore(store, days.deliveryDays);
  do {
    const page = await deleteExpiredEvents(store, { before, after, limit: 1 });
    deleted += page.deleted;
    after = page.next;
  } while (after !== null);
  return deleted;
}

async function pass({ advance, store }: Fixture, passedDays: number): Promise<void> {
  await advance(passedDays * dayMs);
  await makePartitions(store);
}

test('deliveries, attempts, usage reports and events are kept for their time and then dropped', async () => {
  const fixture = await createFixture();
  await deliver(fixture, 'delivered');
  await pass(fixture, 55);
  expect(await dropExpiredPartitions(fixture.store, days)).toMatchObject({
    needed: [],
    errors: [],
  });
  expect(await deleteEvents(fixture)).toBe(0);
  expect(await counts(fixture)).toEqual({ events: 1, deliveries: 1, attempts: 1, usage: 1 });
  await pass(fixture, 40);
  await deliver(fixture, 'delivered');
  const { dropped, needed, errors } = await dropExpiredPartitions(fixture.store, days);
  expect({ needed, errors }).toEqual({ needed: [], errors: [] });
  expect(new Set(dropped.map(({ table }) => table)).size).toBe(3);
  expect(await deleteEvents(fixture)).toBe(1);
  expect(await counts(fixture)).toEqual({ events: 1, deliveries: 1, attempts: 1, usage: 1 });
});

test.each(['pending', 'queued'] as const)(
  'a month with a %s delivery stays whole, with its event, until the delivery has ended',
  async (status) => {
    const fixture = await createFixture();
    const { store, database } = fixture;
    await deliver(fixture, status);
    await deliver(fixture, 'delivered');
    await pass(fixture, 120);
    const { needed } = await dropExpiredPartitions(store, days);
    expect(needed.map(({ table }) => table)).toEqual(['deliveries', 'delivery_attempts']);
    expect(await deleteEvents(fixture)).toBe(0);
    expect(await counts(fixture)).toMatchObject({ events: 2, deliveries: 2, attempts: 2 });
    await database.query(
      `UPDATE deliveries SET status = 'delivered', next_attempt_at = NULL, finished_at = svc_now()`,
    );
    expect(await dropExpiredPartitions(store, days)).toMatchObject({ needed: [], errors: [] });
    expect(await deleteEvents(fixture)).toBe(2);
    expect(await counts(fixture)).toEqual({ events: 0, deliveries: 0, attempts: 0, usage: 0 });
  },
);

test('an event that can be polled keeps its month for a day, even if nobody polls it', async () => {
  const fixture = await createFixture();
  await deliver(fixture, 'waiting');
  await pass(fixture, 120);
  await fixture.database.query('UPDATE deliveries SET round_started_at = svc_now()');
  const round = await dropExpiredPartitions(fixture.store, days);
  expect(round.needed.map(({ table }) => table)).toEqual(['deliveries', 'delivery_attempts']);
  await fixture.advance(dayMs);
  expect(await dropExpiredPartitions(fixture.store, days)).toMatchObject({
    needed: [],
    errors: [],
  });
  expect(await deleteEvents(fixture)).toBe(1);
  expect(await counts(fixture)).toEqual({ events: 0, deliveries: 0, attempts: 0, usage: 0 });
});

test('a month with a submission in flight keeps its usage reports', async () => {
  const fixture = await createFixture();
  const { submissionId } = await deliver(fixture, 'delivered');
  await fixture.database.query(
    'INSERT INTO submissions_in_flight (submission_id, tenant_id) VALUES ($1, $2)',
    [submissionId, randomUUID()],
  );
  await pass(fixture, 120);
  const { needed } = await dropExpiredPartitions(fixture.store, days);
  expect(needed.map(({ table }) => table)).toEqual(['usage_reports']);
  expect(await counts(fixture)).toMatchObject({ usage: 1, deliveries: 0 });
});

test('a drop gives up a lock that a reader has, and the next round succeeds', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  await deliver(fixture, 'delivered');
  await pass(fixture, 120);
  const release = await lockTables(database.ownerUrl, ['deliveries'], 'ACCESS SHARE');
  const round = await dropExpiredPartitions(store, days, impatient);
  expect(round.errors.length).toBeGreaterThan(0);
  expect(round.errors.every(isLockTimeout)).toBe(true);
  expect(await counts(fixture)).toMatchObject({ deliveries: 1, attempts: 1 });
  await release();
  expect(await dropExpiredPartitions(store, days)).toMatchObject({ needed: [], errors: [] });
  expect(await counts(fixture)).toMatchObject({ deliveries: 0, attempts: 0 });
});

test('a drop does not wait for a default partition that another session has', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  await deliver(fixture, 'delivered');
  await pass(fixture, 120);
  const release = await lockTables(database.ownerUrl, ['deliveries_default'], 'ACCESS SHARE');
  const round = await dropExpiredPartitions(store, days, impatient);
  await release();
  expect(round.errors.length).toBeGreaterThan(0);
  for (const error of round.errors) {
    expect(String(error)).toContain('could not obtain lock on relation "deliveries_default"');
  }
});

test('two processes at once drop each partition once, without an error', async () => {
  const fixture = await createFixture();
  await deliver(fixture, 'delivered');
  await pass(fixture, 120);
  const rounds = await Promise.all([1, 2].map(() => dropExpiredPartitions(fixture.store, days)));
  expect(rounds.flatMap(({ errors }) => errors)).toEqual([]);
  const dropped = rounds.flatMap((round) =>
    round.dropped.map(({ table, from }) => `${table} ${from.toISOString()}`),
  );
  expect(dropped).toEqual([...new Set(dropped)]);
});

test('the database refuses to drop rows of the last 30 days', async () => {
  const { store } = await createFixture();
  await expect(
    store.query(
      `SELECT svc_drop_partition('deliveries', svc_now() - interval '40 days', svc_now() - interval '29 days')`,
      [],
    ),
  ).rejects.toThrow('rows are kept for at least 30 days');
  await expect(
    store.query(`SELECT * FROM svc_delete_events(svc_now() - interval '29 days', NULL, 10)`, []),
  ).rejects.toThrow('rows are kept for at least 30 days');
  await expect(
    store.query(
      `SELECT svc_drop_partition('ledger_entries', svc_now() - interval '90 days', svc_now() - interval '60 days')`,
      [],
    ),
  ).rejects.toThrow('ledger_entries has no partitions');
});
