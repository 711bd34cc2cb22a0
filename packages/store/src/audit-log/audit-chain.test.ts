import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { stopDatabaseClock, testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { Query } from '../connection/query.ts';
import { migrationsDirectory } from '../migrations/files.ts';
import { auditHeadPlace } from '../sealing/sealed.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { type AuditHead, parseAuditHead, sealAuditHead, verifyAudit } from './audit-chain.ts';
import { appendAudit } from './audit.ts';

const note = (query: Query, action: string) =>
  appendAudit(query, testAuthor, {
    action,
    subject: { kind: 'service', id: 'test' },
    before: { text: 'Ünïcode "quoted" \\ 🙂', n: 1.5 },
    after: null,
  });

async function tamperable(): Promise<Fixture> {
  const fixture = await createFixture();
  for (const n of [1, 2, 3, 4, 5]) await note(fixture.store.query, `entry.${n}`);
  for (const table of ['audit_log', 'audit_chain'])
    await fixture.database.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  return fixture;
}

const faultsOf = async ({ store }: Fixture, noted?: AuditHead) =>
  (await verifyAudit(store, noted)).faults;

test('concurrent and failing writers leave a chain without gaps', async () => {
  const { store, database } = await createFixture();
  const writers = Array.from({ length: 24 }, (_, n) =>
    store.transaction(async (query) => {
      await note(query, `writer.${n}`);
      await note(query, `writer.${n}.again`);
      if (n % 4 === 0) throw new Error('changed its mind');
    }),
  );
  const failed = (await Promise.allSettled(writers)).filter(({ status }) => status === 'rejected');
  expect(failed).toHaveLength(6);
  const verdict = await verifyAudit(store);
  expect(verdict).toMatchObject({ entries: 36, faults: [], head: { position: 36n } });
  const [places] = await database.query(
    'SELECT min(position)::int AS first, max(position)::int AS last, count(*)::int FROM audit_chain',
  );
  expect(places).toEqual({ first: 1, last: 36, count: 36 });
});

test('a changed entry is found', async () => {
  const fixture = await tamperable();
  expect(await faultsOf(fixture)).toEqual([]);
  await fixture.database.query(`UPDATE audit_log SET after = '{"a":1}' WHERE action = 'entry.3'`);
  expect(await faultsOf(fixture)).toEqual([{ kind: 'changed', position: 3n, entryId: 3n }]);
});

test('a removed entry is found, with and without its chain row', async () => {
  const fixture = await tamperable();
  await fixture.database.query(`DELETE FROM audit_log WHERE action = 'entry.2'`);
  expect(await faultsOf(fixture)).toEqual([{ kind: 'removed', position: 2n, entryId: 2n }]);
  await fixture.database.query('DELETE FROM audit_chain WHERE position = 2');
  expect(await faultsOf(fixture)).toEqual([{ kind: 'place_removed', position: 2n }]);
});

test('reordered or inserted entries are found', async () => {
  const fixture = await tamperable();
  await fixture.database.query(
    `UPDATE audit_chain SET entry_id = CASE position WHEN 2 THEN -4 ELSE -2 END WHERE position IN (2, 4)`,
  );
  await fixture.database.query('UPDATE audit_chain SET entry_id = -entry_id WHERE entry_id < 0');
  expect(await faultsOf(fixture)).toEqual([
    { kind: 'changed', position: 2n, entryId: 4n },
    { kind: 'changed', position: 4n, entryId: 2n },
  ]);
  const other = await tamperable();
  await note(other.store.query, 'entry.inserted');
  await other.database.query(
    `INSERT INTO audit_log (id, at, actor_kind, action, subject_kind)
     VALUES (-1, svc_now(), 'signup', 'entry.inserted', 'service')`,
  );
  expect(await faultsOf(other)).toEqual([
    { kind: 'inserted', entryId: -1n },
    { kind: 'inserted', entryId: 6n },
  ]);
});

test('a rewritten chain matches neither the sealed head nor one noted elsewhere', async () => {
  const fixture = await tamperable();
  const { database, store } = fixture;
  const { head: noted } = await sealAuditHead(store);
  await database.query(`UPDATE audit_log SET action = 'entry.forged' WHERE action = 'entry.2'`);
  const entries = await database.query<{ id: string; text: string }>(
    'SELECT id, svc_audit_text(l) AS text FROM audit_log l ORDER BY id',
  );
  let last = Buffer.alloc(0);
  for (const { id, text } of entries) {
    last = createHash('sha256').update(last).update(text).digest();
    await database.query('UPDATE audit_chain SET hash = $2 WHERE entry_id = $1', [id, last]);
  }
  expect(await faultsOf(fixture)).toEqual([{ kind: 'rewritten', position: 5n }]);
  expect((await sealAuditHead(store)).faults).toEqual([{ kind: 'rewritten', position: 5n }]);
  await database.query('DELETE FROM audit_head');
  expect(await faultsOf(fixture)).toEqual([]);
  expect(await faultsOf(fixture, noted ?? undefined)).toEqual([
    { kind: 'rewritten', position: 5n },
  ]);
});

test('a log that was truncated before the sealed head is found', async () => {
  const fixture = await tamperable();
  const { store, database } = fixture;
  expect(await sealAuditHead(store)).toMatchObject({ entries: 5, faults: [] });
  await database.query('DELETE FROM audit_log WHERE id > 3');
  await database.query('DELETE FROM audit_chain WHERE position > 3');
  const cutOff = [{ kind: 'cut_off', position: 5n }];
  expect(await faultsOf(fixture)).toEqual(cutOff);
  // The second argument is a noted head. It is before the sealed head, so it is not checked, and
  // its wrong hash adds no fault.
  expect((await sealAuditHead(store, { position: 3n, hash: 'earlier' })).faults).toEqual(cutOff);
});

test('a head that the service did not seal is refused, and a missing one is reported', async () => {
  const fixture = await tamperable();
  const { database, store, advance } = fixture;
  await sealAuditHead(store);
  await database.query('UPDATE audit_head SET head_sealed = $1', [Buffer.from('forged')]);
  expect(await faultsOf(fixture)).toEqual([{ kind: 'head_forged' }]);
  const elsewhere = store.sealer.seal({ ...auditHeadPlace(), row: '2' }, `5:${'0'.repeat(64)}`);
  await database.query('UPDATE audit_head SET head_sealed = $1', [Buffer.from(elsewhere)]);
  expect(await faultsOf(fixture)).toEqual([{ kind: 'head_forged' }]);
  const forged = { entries: 0, head: null, faults: [{ kind: 'head_forged' }] };
  expect(await sealAuditHead(store)).toEqual(forged);
  await database.query('DELETE FROM audit_head');
  expect(await faultsOf(fixture)).toEqual([]);
  await advance(3_600_000);
  expect(await faultsOf(fixture)).toEqual([{ kind: 'head_missing' }]);
});

test('an entry with a chosen number and time does not hide that the head is missing', async () => {
  const { store, database, advance } = await createFixture();
  await note(store.query, 'entry.1');
  await advance(3_600_000);
  // The services' role in Postgres may choose the id and the time of an entry that it inserts.
  await database.query(`INSERT INTO audit_log (id, at, actor_kind, action, subject_kind)
    VALUES (-5, '2100-01-01', 'signup', 'entry.first', 'service')`);
  expect((await verifyAudit(store)).faults).toEqual([{ kind: 'head_missing' }]);
});

test('the head advances with the log, and only appended entries are read', async () => {
  const { store } = await createFixture();
  for (const n of [1, 2, 3]) await note(store.query, `entry.${n}`);
  expect(await sealAuditHead(store)).toMatchObject({ entries: 3, head: { position: 3n } });
  await note(store.query, 'entry.4');
  expect(await sealAuditHead(store)).toMatchObject({ entries: 2, head: { position: 4n } });
  expect(await sealAuditHead(store)).toMatchObject({ entries: 1, head: { position: 4n } });
});

test('the migration chains the entries of an earlier version', async () => {
  const { store, database } = await createFixture();
  await database.query(`
    DROP TRIGGER audit_log_chained ON audit_log;
    DROP FUNCTION svc_chain_audit; DROP FUNCTION svc_audit_text; DROP TABLE audit_chain, audit_head`);
  for (const n of [1, 2, 3]) await note(store.query, `entry.${n}`);
  const file = path.join(migrationsDirectory, '20261122041000_audit_chain/migration.sql');
  await database.query(await readFile(file, 'utf8'));
  await database.query('GRANT SELECT ON audit_chain, audit_head TO svc');
  expect(await verifyAudit(store)).toMatchObject({ entries: 3, faults: [] });
});

test('a head is parsed in its printed form and in no other', () => {
  const hash = 'ab'.repeat(32);
  expect(parseAuditHead(`412:${hash}`)).toEqual({ position: 412n, hash });
  for (const text of [
    '',
    '412',
    `0:${hash}`,
    `412:${hash}0`,
    `-1:${hash}`,
    `412:${hash.slice(1)}`,
  ]) {
    expect(parseAuditHead(text)).toBeUndefined();
  }
});

test.each([999, 1_000, 1_001, 2_000])('a log of %i entries is read to its end', async (count) => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  await database.query('ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only');
  await database.query(
    `INSERT INTO audit_log (at, actor_kind, action, subject_kind)
     SELECT svc_now(), 'signup', 'entry', 'service' FROM generate_series(1, $1)`,
    [count],
  );
  const { head, faults, entries } = await verifyAudit(store);
  expect([entries, head?.position, faults]).toEqual([count, BigInt(count), []]);
  await database.query(
    `UPDATE audit_log SET action = 'changed' WHERE id = (SELECT max(id) FROM audit_log)`,
  );
  expect(await faultsOf(fixture)).toMatchObject([{ kind: 'changed', position: BigInt(count) }]);
});

test('the first 100 inserted entries are faults, and a later call looks only after the head', async () => {
  const fixture = await tamperable();
  const { store, database } = fixture;
  await sealAuditHead(store);
  await database.query(
    `INSERT INTO audit_log (id, at, actor_kind, action, subject_kind)
     SELECT -number, svc_now(), 'signup', 'inserted', 'service' FROM generate_series(1, 101) number`,
  );
  const inserted = await faultsOf(fixture);
  expect(inserted).toEqual(
    Array.from({ length: 100 }, (_, n) => ({ kind: 'inserted', entryId: BigInt(n - 101) })),
  );
  expect((await sealAuditHead(store)).faults).toEqual([]);
  await database.query(
    `INSERT INTO audit_log (id, at, actor_kind, action, subject_kind)
     VALUES (6, svc_now(), 'signup', 'inserted', 'service')`,
  );
  expect((await sealAuditHead(store)).faults).toEqual([{ kind: 'inserted', entryId: 6n }]);
});

test('a head is missing if an entry is older than ten minutes', async () => {
  const fixture = await tamperable();
  const { database } = fixture;
  const clockAt = (ms: number) =>
    stopDatabaseClock(database.databaseUrl, new Date(startedAt.getTime() + ms));
  const startedAt = new Date();
  await database.query('UPDATE audit_log SET at = $1', [startedAt]);
  const missing = { kind: 'head_missing' };
  await clockAt(600_000);
  expect(await faultsOf(fixture)).not.toContainEqual(missing);
  await clockAt(600_001);
  expect(await faultsOf(fixture)).toContainEqual(missing);
});

test('a missing head is recorded and sealed again, unless the log has another fault', async () => {
  const fixture = await tamperable();
  const { store, database, advance } = fixture;
  await database.query('ALTER TABLE audit_log ENABLE TRIGGER USER');
  await advance(3_600_000);
  const noted = { position: 3n, hash: '0'.repeat(64) };
  const rewritten = { kind: 'rewritten', position: 3n };
  expect((await sealAuditHead(store, noted)).faults).toEqual([rewritten]);
  expect(await faultsOf(fixture)).toEqual([{ kind: 'head_missing' }]);
  const sealed = await sealAuditHead(store);
  expect(sealed).toMatchObject({ entries: 6, faults: [{ kind: 'head_missing' }] });
  expect(sealed.head?.position).toBe(6n);
  const entries = await database.query(
    `SELECT id, actor_name, action, subject_kind, subject_id, before, after FROM audit_log WHERE id > 5`,
  );
  expect(entries).toEqual([
    {
      id: '6',
      actor_name: 'settlement',
      action: 'audit.head_missing',
      subject_kind: 'service',
      subject_id: 'audit',
      before: null,
      after: null,
    },
  ]);
  expect(await verifyAudit(store)).toMatchObject({ entries: 6, faults: [] });
  expect(await sealAuditHead(store, sealed.head)).toMatchObject({ entries: 1, faults: [] });
});

test('each known head is looked for, at its own position', async () => {
  const fixture = await tamperable();
  const { store, database } = fixture;
  const { head } = await sealAuditHead(store);
  const [after, second] = [
    { position: 7n, hash: '0'.repeat(64) },
    { position: 2n, hash: '0'.repeat(64) },
  ];
  expect(await faultsOf(fixture, after)).toEqual([{ kind: 'cut_off', position: 7n }]);
  expect(await faultsOf(fixture, second)).toEqual([{ kind: 'rewritten', position: 2n }]);
  expect(await faultsOf(fixture, head ?? undefined)).toEqual([]);
  expect((await sealAuditHead(store, after)).faults).toEqual([{ kind: 'cut_off', position: 7n }]);
  const same = { position: 5n, hash: '0'.repeat(64) };
  expect((await sealAuditHead(store, same)).faults).toEqual([{ kind: 'rewritten', position: 5n }]);
  await database.query('ALTER TABLE audit_log ENABLE TRIGGER USER');
  await note(store.query, 'entry.6');
  expect((await sealAuditHead(store, same)).faults).toEqual([{ kind: 'rewritten', position: 5n }]);
  expect(await sealAuditHead(store, head)).toMatchObject({ head: { position: 6n }, faults: [] });
});

test('an empty log has no head, and a head is not moved back', async () => {
  const { store, database } = await createFixture();
  const none = { entries: 0, head: null, faults: [] };
  expect([await verifyAudit(store), await sealAuditHead(store)]).toEqual([none, none]);
  expect(await database.query('SELECT FROM audit_head')).toEqual([]);
  await note(store.query, 'entry.1');
  await sealAuditHead(store);
  await note(store.query, 'entry.2');
  // Another process seals a later head between the reading and the writing of this one.
  await database.query(
    `CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.position := 9; RETURN NEW; END $$;
     CREATE TRIGGER later BEFORE UPDATE ON audit_head FOR EACH ROW EXECUTE FUNCTION later()`,
  );
  await database.query('UPDATE audit_head SET position = 9');
  const [before] = await database.query('SELECT * FROM audit_head');
  await sealAuditHead(store);
  expect(await database.query('SELECT * FROM audit_head')).toEqual([before]);
});

test('the row of the head has its position and its time', async () => {
  const { store, database, advance } = await createFixture();
  const rows = () =>
    database.query<{ position: string; at: Date }>('SELECT position, at FROM audit_head');
  await note(store.query, 'entry.1');
  await sealAuditHead(store);
  const [first] = await rows();
  await advance(60_000);
  await note(store.query, 'entry.2');
  await sealAuditHead(store);
  const [second] = await rows();
  expect([first?.position, second?.position]).toEqual(['1', '2']);
  expect(Number(second?.at) - Number(first?.at)).toBeGreaterThanOrEqual(60_000);
});

test.each(['audit_log', 'audit_head'])(
  'a missing head fails the call if %s refuses it',
  async (table) => {
    const { store, database, advance } = await createFixture();
    await note(store.query, 'entry.1');
    await advance(3_600_000);
    await database.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON ${table} EXECUTE FUNCTION refuse()`,
    );
    await expect(sealAuditHead(store)).rejects.toThrow('not now');
  },
);

test('a head that Postgres refuses fails the call', async () => {
  const { store, database } = await createFixture();
  await note(store.query, 'entry.1');
  await database.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON audit_head EXECUTE FUNCTION refuse()`,
  );
  await expect(sealAuditHead(store)).rejects.toThrow('not now');
});
