import { waitUntil } from '@svc/testkit';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { makePartitions, readPartitions } from './partitions.ts';

const dayMs = 24 * 3_600_000;

async function partitionAt({ database }: Fixture, at: Date): Promise<string> {
  const [row] = await database.query<{ name: string }>(
    `INSERT INTO deliveries (id, tenant_id, event_id, type, status, finished_at, created_at, round_started_at)
     VALUES (svc_uuid_floor($1::timestamptz), gen_random_uuid(), gen_random_uuid(), 'webhook.test', 'delivered',
       svc_now(), svc_now(), svc_now())
     RETURNING tableoid::regclass::text AS name`,
    [at],
  );
  return row?.name ?? 'none';
}

async function monthStart({ database }: Fixture, months: number): Promise<Date> {
  const [row] = await database.query<{ at: Date }>(
    `SELECT (date_trunc('month', svc_now() AT TIME ZONE 'UTC') + make_interval(months => $1)) AT TIME ZONE 'UTC' AS at`,
    [months],
  );
  return row?.at ?? new Date(0);
}

test('a migrated database lacks no partition, and months are created as they approach', async () => {
  const { store, advance } = await createFixture();
  expect(await makePartitions(store)).toEqual({ made: [], missing: [], errors: [] });
  await advance(40 * dayMs);
  const { made, missing, errors } = await makePartitions(store);
  expect(made.length).toBeGreaterThanOrEqual(3);
  expect(made.every(({ movedRows }) => movedRows === 0)).toBe(true);
  expect({ missing, errors }).toEqual({ missing: [], errors: [] });
});

test('two services at once create each partition once, without an error', async () => {
  const { store, advance } = await createFixture();
  await advance(100 * dayMs);
  const rounds = await Promise.all([makePartitions(store), makePartitions(store)]);
  expect(rounds).toMatchObject([
    { missing: [], errors: [] },
    { missing: [], errors: [] },
  ]);
  const made = rounds.flatMap((round) =>
    round.made.map(({ table, from }) => `${table} ${from.toISOString()}`),
  );
  expect(made).toEqual([...new Set(made)]);
});

test('a partition whose lock another session holds for a moment is created, also after another fails', async () => {
  const fixture = await createFixture();
  const { store, database, advance } = fixture;
  await advance(100 * dayMs);
  // A type that has the name of a partition: no attempt can create the partition.
  const failing = await monthStart(fixture, 0);
  const name = `delivery_attempts_${failing.toISOString().slice(0, 7).replace('-', '_')}`;
  await database.query(`CREATE TYPE ${name} AS ENUM ()`);
  const client = new Client({ connectionString: database.databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN; SELECT FROM usage_reports');
  const deliveries = async () => (await readPartitions(store)).get('deliveries')?.length ?? 0;
  const before = await deliveries();
  const making = makePartitions(store);
  // `makePartitions` begins with `usage_reports`. So if `deliveries` has a new partition, the first
  // try has failed at `usage_reports`, which `client` locks.
  await waitUntil(async () => (await deliveries()) > before);
  await client.query('COMMIT');
  const round = await making;
  expect(round.errors).toMatchObject([{ code: '42710' }]);
  expect(round.missing).toMatchObject([{ table: 'delivery_attempts', from: failing }]);
});

test('rows of the default partition move, each to its month, and can still be changed', async () => {
  const fixture = await createFixture();
  const { store, database, advance } = fixture;
  const [start, end] = [await monthStart(fixture, 4), await monthStart(fixture, 5)];
  const times = [start, new Date(end.getTime() - 1), end];
  for (const at of times) expect(await partitionAt(fixture, at)).toBe('deliveries_default');
  await advance(start.getTime() - Date.now() - 60 * dayMs);
  const { made } = await makePartitions(store);
  const [month] = made.filter(({ table, from }) => table === 'deliveries' && from >= start);
  expect(month).toMatchObject({ from: start, to: end, movedRows: 2 });
  const left = await database.query('SELECT id FROM deliveries_default');
  expect(left).toHaveLength(1);
  const changed = await database.query(
    `UPDATE deliveries SET status = 'exhausted' WHERE id = svc_uuid_floor($1::timestamptz) RETURNING id`,
    [start],
  );
  expect(changed).toHaveLength(1);
});

test('gaps between irregular partitions are filled, so that no id goes to the default', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const [start, end] = [await monthStart(fixture, 1), await monthStart(fixture, 2)];
  const odd = {
    from: new Date(start.getTime() + 3_600_000),
    to: new Date(end.getTime() - dayMs + 3_600_000),
  };
  const [name] = await database.query<{ name: string }>(
    `SELECT 'deliveries_' || to_char($1::timestamptz AT TIME ZONE 'UTC', 'YYYY_MM') AS name`,
    [start],
  );
  await database.query(`DROP TABLE ${name?.name}`);
  await database.query(
    `DO $$ BEGIN EXECUTE format('CREATE TABLE ${name?.name} PARTITION OF deliveries FOR VALUES FROM (%L) TO (%L)',
      svc_uuid_floor('${odd.from.toISOString()}'), svc_uuid_floor('${odd.to.toISOString()}')); END $$`,
  );
  const { made, errors } = await makePartitions(store);
  expect(errors).toEqual([]);
  expect(made.map(({ from, to }) => [from, to])).toEqual([
    [start, odd.from],
    [odd.to, end],
  ]);
  const edges = [start, odd.from, odd.to, end].flatMap((at) => [at, new Date(at.getTime() - 1)]);
  for (const at of edges) expect(await partitionAt(fixture, at)).not.toBe('deliveries_default');
});

test.each(['Europe/Berlin', 'America/New_York'])(
  'a session in %s names and bounds a partition like a session in UTC',
  async (timeZone) => {
    const { database } = await createFixture({ timeZone });
    for (const month of ['2031-03', '2031-10', '2031-11']) {
      const [from, to] = [`${month}-01T00:00Z`, `2031-${Number(month.slice(5)) + 1}-01T00:00Z`];
      await database.query(
        `SELECT svc_make_partition('deliveries', $1::timestamptz, $2::timestamptz)`,
        [from, to],
      );
      const [bound] = await database.query<{ is_right: boolean }>(
        `SELECT pg_get_expr(relpartbound, oid) = format('FOR VALUES FROM (%L) TO (%L)',
           svc_uuid_floor($1::timestamptz), svc_uuid_floor($2::timestamptz)) AS is_right
         FROM pg_class WHERE relname = $3`,
        [from, to, `deliveries_${month.replace('-', '_')}`],
      );
      expect(bound).toEqual({ is_right: true });
    }
  },
);

test('only partitioned tables get a partition', async () => {
  const { database } = await createFixture();
  await expect(
    database.query(
      `SELECT svc_make_partition('tenants', '2031-01-01T00:00Z', '2031-02-01T00:00Z')`,
    ),
  ).rejects.toThrow('tenants has no partitions');
});
