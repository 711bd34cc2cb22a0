import { toWireId } from '@svc/domain';
import { stopDatabaseClock, testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createOperator } from '../operators/operators.ts';
import { createFixture } from '../store.fixture.ts';
import { type AuditFilter, listAudit } from './audit-list.ts';
import { type Actor, appendAudit, type AuditedChange, operatorIdOf } from './audit.ts';
import { auditReading, withAudit } from './audited.ts';
import { changedBy, listTenantChanges, recordTenantChange } from './tenant-changes.ts';

async function createLog() {
  const fixture = await createFixture();
  const { store, database, tenant } = fixture;
  const openedAt = new Date();
  const at = (ms: number) => new Date(openedAt.getTime() + ms);
  const clockAt = (ms: number) => stopDatabaseClock(database.databaseUrl, at(ms));
  await clockAt(0);
  const [tenantId, other] = [await tenant(), await tenant()];
  const operatorId = store.newId();
  await createOperator(store, { id: operatorId, name: 'ana', secret: 'osk_1' }, testAuthor);
  const keyId = store.newId();
  const actors = {
    operator: { kind: 'operator', id: operatorId },
    key: { kind: 'tenant', id: tenantId, keyId },
    tenant: { kind: 'tenant', id: tenantId },
    local: { kind: 'local', name: 'root' },
    signup: { kind: 'signup' },
  } as const satisfies Record<string, Actor>;
  const none = { actorId: null, action: null, subjectId: null, since: null, until: null } as const;
  const list = async (filter: Partial<AuditFilter>) =>
    (await listAudit(store, { ...none, beforeId: null, limit: 10, ...filter })).toReversed();
  const change = {
    action: 'test.change',
    subject: { kind: 'service', id: 'test' },
    before: null,
    after: null,
  } as const;
  const note = (changed: Partial<AuditedChange>, actor: Actor = actors.local) =>
    appendAudit(store.query, { actor, requestId: 'req-1' }, { ...change, ...changed });
  return {
    ...fixture,
    at,
    clockAt,
    tenantId,
    other,
    operatorId,
    keyId,
    actors,
    list,
    note,
    change,
  };
}

test('an entry names who made the change, by the present name', async () => {
  const { note, list, actors, database, tenantId, operatorId, keyId, store } = await createLog();
  const gone = { kind: 'tenant', id: store.newId(), keyId } as const;
  for (const actor of [...Object.values(actors), gone]) await note({ before: { a: 1 } }, actor);
  await database.query(`UPDATE tenants SET name = 'Renamed' WHERE id = $1`, [tenantId]);
  const wireId = toWireId('key', keyId);
  const entries = await list({ action: 'test.change' });
  expect(entries.map((one) => [one.actorKind, one.actorId, one.actorName, one.keyId])).toEqual([
    ['operator', operatorId, 'ana', null],
    ['tenant', tenantId, 'Renamed', wireId],
    ['tenant', tenantId, 'Renamed', null],
    ['local', null, 'root', null],
    ['signup', null, null, null],
    ['tenant', gone.id, null, wireId],
  ]);
  const [first] = entries;
  expect(first).toMatchObject({
    before: { a: 1 },
    after: null,
    requestId: 'req-1',
    subjectId: 'test',
  });
});

test('the log is listed newest first, by actor, action, subject and time', async () => {
  const { note, list, actors, at, clockAt, tenantId, operatorId } = await createLog();
  const subject = { kind: 'tenant', id: toWireId('tnt', tenantId) } as const;
  await clockAt(1_000);
  await note({ action: 'one' }, actors.operator);
  await clockAt(2_000);
  await note({ action: 'two', subject }, actors.key);
  await clockAt(3_000);
  await note({ action: 'one', subject });
  const since = at(1_000);
  const times = async (filter: Partial<AuditFilter>) =>
    (await list({ since, ...filter })).map((one) => one.at.getTime() - at(0).getTime());
  expect(await times({})).toEqual([1_000, 2_000, 3_000]);
  expect(await times({ since: at(1_001) })).toEqual([2_000, 3_000]);
  expect(await times({ until: at(3_000) })).toEqual([1_000, 2_000]);
  expect(await times({ until: at(3_001) })).toEqual([1_000, 2_000, 3_000]);
  expect(await times({ limit: 2 })).toEqual([2_000, 3_000]);
  expect(await times({ action: 'one' })).toEqual([1_000, 3_000]);
  expect(await times({ actorId: operatorId })).toEqual([1_000]);
  expect(await times({ actorId: tenantId })).toEqual([2_000]);
  expect(await times({ subjectId: subject.id })).toEqual([2_000, 3_000]);
  expect(await times({ subjectId: subject.id, action: 'one' })).toEqual([3_000]);
  const newest = (await list({ limit: 1 }))[0];
  expect(await times({ beforeId: newest?.id ?? 0n })).toEqual([1_000, 2_000]);
  expect((await list({ since: null })).length).toBeGreaterThan(3);
});

test('a tenant sees its changes newest first, and by whom, but nothing else', async () => {
  const log = await createLog();
  const { store, actors, tenantId, other, keyId, operatorId, note, at } = log;
  const changed = { action: 'key.create', before: null, after: { n: 1 } } as const;
  for (const actor of Object.values(actors))
    await recordTenantChange(store.query, { actor, requestId: 'req-1' }, { ...changed, tenantId });
  await recordTenantChange(store.query, testAuthor, { ...changed, tenantId: other });
  await note({ subject: { kind: 'tenant', id: toWireId('tnt', tenantId) } });
  await note({ action: 'key.create', subject: { kind: 'node', id: toWireId('tnt', tenantId) } });
  const list = (beforeId: bigint | null, limit = 10) =>
    listTenantChanges(store, { tenantId, beforeId, limit });
  const all = await list(null);
  expect(all.map(({ by }) => by).toReversed()).toEqual([
    { operator: toWireId('op', operatorId) },
    { keyId: toWireId('key', keyId) },
    { keyId: null },
    { operator: 'local' },
    { operator: 'local' },
  ]);
  expect(all[0]).toMatchObject({ what: 'key.created', at: at(0), before: null, after: { n: 1 } });
  expect(await list(null, 2)).toEqual(all.slice(0, 2));
  expect(await list(all[1]?.id ?? 0n)).toEqual(all.slice(2));
});

test('the author of a change is an operator or a key', async () => {
  const { actors, operatorId, keyId } = await createLog();
  const seen = Object.values(actors).map((actor) => [
    changedBy(actor),
    operatorIdOf({ actor, requestId: null }),
  ]);
  expect(seen).toEqual([
    [{ operator: toWireId('op', operatorId) }, operatorId],
    [{ keyId: toWireId('key', keyId) }, null],
    [{ keyId: null }, null],
    [{ operator: 'local' }, null],
    [{ keyId: null }, null],
  ]);
});

test('a reading of personal data is in the log, with its subject', async () => {
  const { store, list } = await createLog();
  const id = store.newId();
  for (const reading of [
    { submissionId: id },
    { deliveryId: id },
    { list: 'submissions', count: 3 },
  ])
    await auditReading(store, reading, testAuthor);
  const shown = (await list({})).slice(-3).map((one) => [one.action, one.subjectId, one.after]);
  expect(shown).toEqual([
    ['submission.read', toWireId('sub', id), null],
    ['delivery.read', toWireId('dlv', id), null],
    ['list.read', 'submissions', { count: 3 }],
  ]);
});

test('a change outside Postgres is in the log only if it succeeds, and is not made without its entry', async () => {
  const { store, list, change, database } = await createLog();
  const done: string[] = [];
  const act = (name: string) => async () => {
    done.push(name);
    if (name === 'failing') throw new Error('failing');
    return name;
  };
  expect(await withAudit(store, change, testAuthor, act('first'))).toBe('first');
  await expect(withAudit(store, change, testAuthor, act('failing'))).rejects.toThrow('failing');
  expect(await list({ action: 'test.change' })).toHaveLength(1);
  await database.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON audit_log EXECUTE FUNCTION refuse()`,
  );
  await expect(withAudit(store, change, testAuthor, act('second'))).rejects.toThrow('not now');
  await expect(auditReading(store, { list: 'x', count: 1 }, testAuthor)).rejects.toThrow('not now');
  expect(done).toEqual(['first', 'failing']);
});
