import { waitUntil } from '@svc/testkit';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { isUnavailable } from './errors.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { openStore, type Store } from './store.ts';

let fixture: Fixture;
let store: Store;
/** How many broken connections the pool has reported. */
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

/** Ends a session of Postgres, like a restart or the limit on idle transactions. */
async function breakConnection(pid: number): Promise<void> {
  await fixture.database.query('SELECT pg_terminate_backend($1)', [pid]);
  await waitUntil(async () => broken > 0, { what: 'the client to notice it' });
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

test('a Prisma transaction whose connection breaks is unavailable too', async () => {
  const work = store.db.$transaction(async (tx) => {
    const [row] = await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    await breakConnection(row?.pid ?? 0);
    return await tx.$queryRaw`SELECT pg_backend_pid() AS pid`;
  });
  expect(isUnavailable(await work.catch((error: unknown) => error))).toBe(true);
});
