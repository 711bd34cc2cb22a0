import { testAuthor } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { commitRunning } from '../assignments/begin.ts';
import { commitDispatched, loadForDispatch } from '../assignments/dispatch.ts';
import { storeOutcome } from '../assignments/outcomes.ts';
import { recordUsage } from '../assignments/usage-reports.ts';
import { listAudit } from '../audit-log/audit-list.ts';
import { findDelivery } from '../deliveries/list.ts';
import { queueWebhookTest } from '../deliveries/redelivery.ts';
import { cancelSubmission, settle } from '../endings/endings.ts';
import { readLedgerAudit, saveWholeAudit } from '../ledger-audit/run-audit.ts';
import { readStatement } from '../ledger/account-statement.ts';
import { auditLedger } from '../ledger/ledger-audit.ts';
import { rotateNodeSecret } from '../nodes/changes.ts';
import { findChangedNodes } from '../nodes/credentials.ts';
import { findNode } from '../nodes/nodes.ts';
import { listOperators, createOperator } from '../operators/operators.ts';
import { assertReady, databaseNow } from '../schema/environment.ts';
import { createFixture, type Fixture, usage } from '../store.fixture.ts';
import { findAnySubmission } from '../submissions/operator-list.ts';
import { listSubmissions } from '../submissions/submission-list.ts';
import { findSubmission } from '../submissions/submissions.ts';
import { readTrace } from '../submissions/trace.ts';
import { rotateTenantSecret } from '../tenants/secrets.ts';
import { findTenant } from '../tenants/tenants.ts';
import { openStore } from './store.ts';

/** Zones east and west of UTC, and one whose offset is not in whole hours. */
const timeZones = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata'];

const minuteMs = 60_000;
/**
 * A time that differs from the database's time by more than this is wrong. Every deadline in the
 * test differs by less, and a wrong time zone would shift a time by more.
 */
const nearMs = 40 * minuteMs;

async function liveOnce({ store, tenant, node, hold }: Fixture) {
  const tenantId = await tenant(1_000, 'https://hooks.example.com/svc');
  const nodeId = await node();
  const { id: submissionId } = await hold(tenantId);
  const loaded = await loadForDispatch(store, [submissionId]);
  await commitDispatched(store, { submissionId, nodeId });
  await commitRunning(store, { submissionId, nodeId });
  await recordUsage(store, { submissionId, nodeId, usage: usage({ actions: '1' }) });
  const outcome = { kind: 'completed', usage: usage({ actions: '2' }), result: {} } as const;
  await storeOutcome(store, { submissionId, nodeId, outcome });
  await settle(store, [submissionId]);
  const tested = await queueWebhookTest(store, { tenantId, requestId: 'req-1' });
  const overlapMs = 10 * minuteMs;
  const rotation = { tenantId, kind: 'hmac', secret: 'hsk_2', overlapMs, force: false } as const;
  const rotatedTenant = await rotateTenantSecret(store, rotation, testAuthor);
  const nodeRotation = { nodeId, secret: 'nsk_2', overlapMs, force: false };
  const rotatedNode = await rotateNodeSecret(store, nodeRotation, testAuthor);
  await createOperator(store, { id: store.newId(), name: 'Ana', secret: 'osk_1' }, testAuthor);
  await saveWholeAudit(store, await auditLedger(store));
  if (tested.kind !== 'queued') throw new Error(tested.kind);
  return {
    ids: { tenantId, nodeId, submissionId, deliveryId: tested.deliveryId },
    answers: { loaded, rotatedTenant, rotatedNode },
  };
}

async function readAll({ store }: Fixture, ids: Awaited<ReturnType<typeof liveOnce>>['ids']) {
  const { tenantId, nodeId, submissionId, deliveryId } = ids;
  const audited = { actorId: null, action: null, subjectId: null, beforeId: null, until: null };
  const lines = { type: null, submissionId: null, after: null };
  return {
    now: await databaseNow(store),
    submission: await findSubmission(store, tenantId, submissionId),
    operators: await findAnySubmission(store, submissionId),
    trace: await readTrace(store, submissionId),
    statement: await readStatement(store, tenantId, { ...lines, limit: 10 }),
    delivery: await findDelivery(store, tenantId, deliveryId),
    audit: await listAudit(store, { ...audited, since: null, limit: 10 }),
    verdict: await readLedgerAudit(store),
    tenant: await findTenant(store, tenantId),
    node: await findNode(store, nodeId),
    changedNodes: await findChangedNodes(store, null),
    operatorList: await listOperators(store, { before: null, limit: 10 }),
  };
}

function timesIn(value: unknown, path = ''): { path: string; at: Date }[] {
  if (value instanceof Date) return [{ path, at: value }];
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => timesIn(one, `${path}.${key}`));
}

test.each(timeZones)('every time is right on a server in %s', async (timeZone) => {
  const fixture = await createFixture({ timeZone });
  const { store, database } = fixture;
  const [zone] = await database.query<{ TimeZone: string }>('SHOW TimeZone');
  expect(zone?.TimeZone).toBe(timeZone);
  const { ids, answers } = await liveOnce(fixture);
  const times = timesIn({ ...answers, ...(await readAll(fixture, ids)) });
  expect(times.length).toBeGreaterThan(30);
  const [clock] = await database.query<{ now: Date }>('SELECT svc_now() AS now');
  const nowMs = clock?.now.getTime() ?? 0;
  const wrong = times.filter(({ at }) => Math.abs(at.getTime() - nowMs) > nearMs);
  expect(wrong).toEqual([]);
  const filter = { status: null, idempotencyKey: null, after: null, limit: 10 };
  const listedFrom = async (ms: number) =>
    (
      await listSubmissions(store, ids.tenantId, {
        ...filter,
        createdAfter: new Date(nowMs + ms),
        createdBefore: new Date(nowMs + nearMs),
      })
    ).length;
  expect(await listedFrom(-nearMs)).toBe(1);
  expect(await listedFrom(minuteMs)).toBe(0);
});

test.each(timeZones.slice(0, 2))('a day is always 24 hours on a server in %s', async (timeZone) => {
  const { store } = await createFixture({ timeZone });
  const hours = await store.query<{ hours: number }>(
    `SELECT (extract(epoch FROM day + interval '1 day' - day) / 3600)::int AS hours
     FROM generate_series('2027-01-01T00:00Z'::timestamptz, '2027-12-31T00:00Z', interval '24 hours') AS day
     GROUP BY 1`,
    [],
  );
  expect(hours).toEqual([{ hours: 24 }]);
});

test('every session is in UTC and waits for the disk, whatever the database sets', async () => {
  const { database, store } = await createFixture({ timeZone: 'Europe/Berlin' });
  await database.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$`,
  );
  const other = openStore({ ...store, databaseUrl: database.databaseUrl });
  onTestFinished(() => other.close());
  const settings = `SELECT current_setting('TimeZone') AS zone, current_setting('synchronous_commit') AS waits`;
  expect(await other.query(settings, [])).toEqual([{ zone: 'UTC', waits: 'on' }]);
  expect(await assertReady(other, 'sandbox')).toMatchObject({ kind: 'ready' });
});

test('a store whose URL overrides a setting of the role is refused, and the fault is named', async () => {
  const { database, store } = await createFixture();
  const url = new URL(database.databaseUrl);
  url.searchParams.set('options', '-c TimeZone=Asia/Kolkata -c work_mem=5MB');
  const other = openStore({ ...store, databaseUrl: url.href });
  onTestFinished(() => other.close());
  expect(await assertReady(other, 'sandbox')).toEqual({
    kind: 'wrong_session',
    faults: [expect.stringContaining('TimeZone is Asia/Kolkata instead of UTC. Run `svc migrate`')],
  });
});

test('a tenant’s cancel in another zone is reported with the correct time', async () => {
  const fixture = await createFixture({ timeZone: 'America/New_York' });
  const tenantId = await fixture.tenant();
  const { id: submissionId } = await fixture.hold(tenantId);
  await cancelSubmission(fixture.store, { submissionId, tenantId, by: 'tenant' });
  const [stored] = await fixture.database.query<{ finished_at: Date }>(
    'SELECT finished_at FROM submissions',
  );
  const found = await findSubmission(fixture.store, tenantId, submissionId);
  expect(found?.finishedAt).toEqual(stored?.finished_at);
});
