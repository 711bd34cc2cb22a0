import { waitUntil } from '@svc/testkit';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { hasOperators } from '../operators/operators.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { isUnavailable, sqlState } from './errors.ts';
import { openStore, type Store } from './store.ts';

let fixture: Fixture;
let store: Store;
let broken: number;

beforeEach(async () => {
  fixture = await createFixture();
  broken = 0;
  const { sealer, newId } = fixture.store;
  const onConnectionError = (): void => void (broken += 1);
  const { databaseUrl } = fixture.database;
  store = openStore({ databaseUrl, sealer, newId, onConnectionError });
  onTestFinished(() => store.close());
});

/**
 * Ends a session of Postgres, as a restart or `idle_in_transaction_session_timeout` does. Waits
 * until the client has noticed.
 */
async function breakConnection(pid: number): Promise<void> {
  await fixture.database.query('SELECT pg_terminate_backend($1)', [pid]);
  await waitUntil(async () => broken > 0, { what: 'the client to notice the broken connection' });
}

const pidSql = 'SELECT pg_backend_pid() AS pid';

test('a transaction whose connection breaks between two statements is unavailable', async () => {
  const work = store.transaction(async (query) => {
    const [row] = await query<{ pid: number }>(pidSql, []);
    await breakConnection(row?.pid ?? 0);
    return await query(pidSql, []);
  });
  expect(isUnavailable(await work.catch((error: unknown) => error))).toBe(true);
});

test('a transaction that Postgres has ended while the process stood still is unavailable', async () => {
  const work = store.transaction(async (query) => {
    await query(`SET LOCAL idle_in_transaction_session_timeout = '20ms'`, []);
    // Blocks this process while Postgres ends the transaction. The process therefore sends the next
    // statement before it reads the error of Postgres.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    return await query(pidSql, []);
  });
  const error = await work.catch((reason: unknown) => reason);
  expect(sqlState(error)).toBe('25P03');
  expect(isUnavailable(error)).toBe(true);
});

test('a typed call whose connection breaks before its answer is unavailable too', async () => {
  const other = await beginOther(fixture);
  await other.query('LOCK TABLE operators');
  const call = hasOperators(store).catch((error: unknown) => error);
  await untilLockWait(fixture);
  await fixture.database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  expect(isUnavailable(await call)).toBe(true);
});

test('a statement that Postgres refuses keeps its connection', async () => {
  const [before] = await store.query<{ pid: number }>(pidSql, []);
  await expect(store.query('SELECT 1 / 0', [])).rejects.toThrow('division by zero');
  const [after] = await store.query<{ pid: number }>(pidSql, []);
  expect(after).toEqual(before);
});
