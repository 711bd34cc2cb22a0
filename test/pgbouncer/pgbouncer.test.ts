import { randomBytes } from 'node:crypto';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { assertReady, attemptClaimMs, migrate, openStore } from '@svc/store';
import { describe, expect, onTestFinished, test } from 'vitest';
import { application, endingEvents, eventOf, expectMoney, shareStack } from '../support/journey.ts';
import {
  createPooledDatabase,
  type PooledDatabase,
  sessionsMax,
  whyNoPgbouncer,
} from './pooled-database.ts';

const reason = await whyNoPgbouncer();
if (reason !== undefined) process.stdout.write(`test/pgbouncer is skipped: ${reason}\n`);

describe.skipIf(reason !== undefined)('through PgBouncer in transaction mode', () => {
  let database: PooledDatabase;
  const newJourney = shareStack({
    nodes: 1,
    failpoints: true,
    database: async () => (database = await createPooledDatabase()),
  });

  test('a migration gives the role its settings, and a whole submission runs in a few sessions', async () => {
    const journey = await newJourney();
    const migrated = await migrate(database.ownerUrl, database.databaseUrl);
    expect(migrated).toMatchObject({ kind: 'migrated' });
    const { client, stack } = journey;
    const created: string[] = [];
    for (const key of ['pooled-1', 'pooled-2', 'pooled-3']) {
      const { submissionId } = await client.submit(application(key));
      const ended = await client.waitFor(submissionId, { timeoutMs: 25_000 });
      expect(ended.status).toBe('submitted');
      await eventOf(journey, submissionId, 'submission.completed');
      expect(endingEvents(journey, submissionId)).toHaveLength(1);
      created.push(submissionId);
    }
    const { held, balance } = await client.balance();
    await expectMoney(journey, { balance, held });
    expect(held).toBe(0);
    const [first] = created;
    expect(await stack.svc(['trace', first ?? ''])).toBeTypeOf('object');
    expect(await stack.svc(['ledger', 'verify'])).toBeTypeOf('object');
    const servers = await database.console('SHOW SERVERS');
    const ours = servers.filter(
      ({ database: name }) => name === new URL(stack.databaseUrl).pathname.slice(1),
    );
    expect(ours.length).toBeLessThanOrEqual(sessionsMax);
    const statements = ours.map(({ prepared_statements: count }) => Number(count));
    expect(Math.max(...statements)).toBeGreaterThan(10);
    const sessions = await database.query<{ count: number }>(
      `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND usename = $1`,
      [new URL(database.directUrl).username],
    );
    expect(sessions[0]?.count).toBeLessThanOrEqual(sessionsMax);
  });

  test.each([
    ['gateway', 'hold.committed'],
    ['settlement', 'settled.committed'],
  ] as const)(
    'kill -9 of PgBouncer while the %s is at %s: the submission ends once, with the right money',
    async (service, failpoint) => {
      const journey = await newJourney();
      const { client, stack } = journey;
      await stack.armFailpoint(service, failpoint);
      const creation = client.submit(application('cut'));
      const reached = stack.failpointReached(service, failpoint);
      await Promise.race([reached, creation.then(() => reached)]);
      await database.killAndRestart();
      stack.releaseFailpoint(service, failpoint);
      const { submissionId } = await creation;
      const ended = await client.waitFor(submissionId, { timeoutMs: 25_000 });
      expect(ended.status).toBe('submitted');
      // The kill may lose Postgres's answer to the claim of a webhook attempt. Then the next
      // attempt is due only when that claim expires.
      const timeoutMs = attemptClaimMs + 20_000;
      await eventOf(journey, submissionId, 'submission.completed', { timeoutMs });
      expect(endingEvents(journey, submissionId)).toHaveLength(1);
      const balance = Math.round((5_000 - (ended.actualCredits ?? 0)) * 1e6) / 1e6;
      await expectMoney(journey, { balance, held: 0 });
    },
  );

  test('transactions of many clients keep their statements and their locks apart', async () => {
    await newJourney();
    const stores = Array.from({ length: 3 }, () => storeOn(database.databaseUrl));
    const [probe] = stores;
    if (probe === undefined) throw new Error('the test has no store');
    const check = await probe.checkSession();
    expect(check).toEqual({ wrongSettings: [], isPooled: true, keepsStatements: true });
    const work = stores.flatMap((store, at) =>
      Array.from({ length: 40 }, async (_, index) => {
        const value = at * 1_000 + index;
        const answer = await store
          .transaction(
            async (query) => {
              const rows = await Promise.all([
                query<{ value: number }>('SELECT $1::int AS value', [value]),
                query<{ value: number }>(`SELECT $1::int + ${index % 7} AS value`, [value]),
                query<{ value: number }>('SELECT pg_advisory_xact_lock($1)::text, 0 AS value', [
                  value,
                ]),
              ]);
              // Every fourth transaction fails. A failed transaction must leave nothing behind in
              // the session, because other clients use the session next.
              if (index % 4 === 0) await query('SELECT 1 / 0', []).catch(() => {});
              if (index % 4 === 0) throw new Error('rolled back');
              return rows.flat().map((row) => row.value);
            },
            { opensWithReads: true },
          )
          .catch((error: unknown) => (index % 4 === 0 ? 'rolled back' : error));
        expect(answer).toEqual(index % 4 === 0 ? 'rolled back' : [value, value + (index % 7), 0]);
      }),
    );
    await Promise.all(work);
    const left = await database.query(
      `SELECT l.locktype FROM pg_locks l JOIN pg_stat_activity a USING (pid)
       WHERE a.datname = current_database() AND l.locktype = 'advisory'`,
    );
    expect(left).toEqual([]);
  });

  test('a service refuses a pooler that does not keep named statements, and says what to set', async () => {
    const other = await createPooledDatabase({ max_prepared_statements: '0' });
    onTestFinished(() => other.close());
    const store = storeOn(other.databaseUrl);
    expect(await assertReady(store, 'sandbox')).toEqual({
      kind: 'wrong_session',
      faults: [expect.stringContaining('`max_prepared_statements` above 0')],
    });
    await store.close();
  });
});

function storeOn(databaseUrl: string) {
  const key = `k:${randomBytes(32).toString('base64')}`;
  const store = openStore({ databaseUrl, sealer: createSealer(openKeyring(key)), newId });
  onTestFinished(() => store.close());
  return store;
}
