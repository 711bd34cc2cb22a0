import { waitUntil } from '@svc/testkit';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { assertReady, openReadyStore } from '../schema/environment.ts';
import { createFixture, type Fixture, newSubmission } from '../store.fixture.ts';
import { holdSubmission } from '../submissions/hold.ts';
import { isAnswerLost, isUnavailable, sqlState } from './errors.ts';
import { openStore, ping, type Store } from './store.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});

const writeSql = 'UPDATE nodes SET name = name';
const pidSql = 'SELECT pg_backend_pid() AS pid';

function open(options: Partial<Parameters<typeof openStore>[0]> = {}): Store {
  const { sealer, newId } = fixture.store;
  const { databaseUrl } = fixture.database;
  const store = openStore({ databaseUrl, sealer, newId, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** Each session that begins from now on is read-only, or no longer is. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  const [row] = await fixture.database.query<{ name: string }>('SELECT current_database() AS name');
  await fixture.database.query(
    `ALTER DATABASE ${row?.name} SET default_transaction_read_only = ${value}`,
  );
}

/** Makes one open session of `store` read-only, as a reload of the server's configuration does. */
async function makeSessionReadOnly(store: Store): Promise<void> {
  await store.query("SELECT set_config('default_transaction_read_only', 'on', false)", []);
}

const caught = (work: Promise<unknown>) => work.catch((error: unknown) => error);

test('a read-only session is unavailable for every kind of write, and the next one writes', async () => {
  const writes: readonly ((store: Store) => Promise<unknown>)[] = [
    (store) => store.query(writeSql, []),
    (store) => store.transaction((query) => query(writeSql, [])),
    (store) => store.transaction((query) => Promise.all([1, 2].map(() => query(writeSql, [])))),
    (store) => store.db.node.updateMany({ data: { agentVersion: '1' } }),
    ping,
  ];
  for (const write of writes) {
    const store = open({ poolMax: 1 });
    await makeSessionReadOnly(store);
    const error = await caught(write(store));
    expect([isUnavailable(error), isAnswerLost(error)]).toEqual([true, true]);
    await write(store);
  }
});

test('a batch of a read-only session runs again in another session', async () => {
  const tenantId = await fixture.tenant(500);
  const store = open({ poolMax: 1 });
  await makeSessionReadOnly(store);
  const submission = await newSubmission(fixture.store, tenantId, { key: 'a' });
  expect(await holdSubmission(store, submission)).toMatchObject({ kind: 'held' });
});

test('no read-only session enters the pool, and writes succeed as soon as new sessions may write', async () => {
  const store = open();
  await setReadOnly('on');
  const errors = await Promise.all([caught(store.query(pidSql, [])), caught(ping(store))]);
  expect(errors.map((error) => isUnavailable(error))).toEqual([true, true]);
  expect(String(errors[0])).toContain('accepts no writes');
  const { databaseUrl } = fixture.database;
  const { sealer, newId } = fixture.store;
  const started = { databaseUrl, sealer, newId, environment: 'sandbox' } as const;
  expect(await openReadyStore(started)).toMatchObject({ kind: 'refused' });
  await setReadOnly('off');
  await store.query(writeSql, []);
  expect((await assertReady(store, 'sandbox')).kind).toBe('ready');
});

test('a deadlock that is left after the retries is unavailable, but no lost answer', async () => {
  const store = open();
  const conflict = await caught(
    store.query(`DO $$ BEGIN RAISE 'conflict' USING ERRCODE = '40P01'; END $$`, []),
  );
  expect([sqlState(conflict), isUnavailable(conflict), isAnswerLost(conflict)]).toEqual([
    '40P01',
    true,
    false,
  ]);
});

test('a transaction fails with its first error, not with that of a later statement', async () => {
  const failed = open().transaction(async (query) => {
    const [, second] = await Promise.allSettled([query('SELECT 1 / 0', []), query(pidSql, [])]);
    if (second.status === 'rejected') throw second.reason;
  });
  expect(sqlState(await caught(failed))).toBe('22012');
});

test('a connection ends after its longest lifetime, also if it is in use all the time', async () => {
  const store = open({ poolMax: 1, connectionLifetimeMsMax: 100 });
  const [first] = await store.query<{ pid: number }>(pidSql, []);
  const isOther = async () => {
    const [now] = await store.query<{ pid: number }>(pidSql, []);
    return now?.pid !== first?.pid;
  };
  expect(await waitUntil(isOther, { what: 'a new connection' })).toBe(true);
});
