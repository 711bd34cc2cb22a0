import { expect, test } from 'vitest';
import { claimFor, createFixture, type Fixture } from '../store.fixture.ts';
import { changeSettings } from '../tenants/settings.ts';
import { recordAttempt } from './attempts.ts';
import { attemptClaimMs } from './deliveries.ts';
import { findDelivery, listDeliveries } from './list.ts';
import {
  countRecoverable,
  recoverDeliveries,
  type Recovery,
  type RecoveryPlace,
} from './recovery.ts';
import { queueWebhookTest, redeliver } from './redelivery.ts';

const url = 'https://hooks.example.com/';
const by = { actor: { kind: 'local', name: 'ana' }, requestId: 'svc-1' } as const;
const everything: Recovery = { since: new Date(0), tenantId: null, statuses: ['exhausted'] };
const tenantAuthor = (id: string) =>
  ({ actor: { kind: 'tenant', id }, requestId: 'req-1' }) as const;

async function exhausted(fixture: Fixture): Promise<{ tenantId: string; deliveryId: string }> {
  const tenantId = await fixture.tenant(0, url);
  const queued = await queueWebhookTest(fixture.store, { tenantId, requestId: 'req-1' });
  if (queued.kind !== 'queued') throw new Error(queued.kind);
  const [attempt] = await claimFor(fixture.store, tenantId);
  if (attempt === undefined) throw new Error('nothing to claim');
  await recordAttempt(fixture.store, {
    ...attempt,
    statusCode: 500,
    durationMs: 1,
    error: null,
    responseText: null,
    verdict: { kind: 'exhausted' },
  });
  return { tenantId, deliveryId: queued.deliveryId };
}

const page = (
  fixture: Fixture,
  recovery: Recovery,
  limit: number,
  after: RecoveryPlace | null = null,
) => recoverDeliveries(fixture.store, recovery, { after, limit }, by);

test('a recovery makes exhausted deliveries due in a new round, page by page, and audits each page', async () => {
  const fixture = await createFixture();
  const deliveries = [await exhausted(fixture), await exhausted(fixture), await exhausted(fixture)];
  expect(await countRecoverable(fixture.store, everything)).toBe(3);
  const first = await page(fixture, everything, 2);
  expect(first?.count).toBe(2);
  const second = await page(fixture, everything, 2, first?.last);
  expect(second?.count).toBe(1);
  expect(await page(fixture, everything, 2, second?.last)).toBeNull();
  for (const { tenantId } of deliveries) {
    const [attempt] = await claimFor(fixture.store, tenantId);
    expect(attempt).toMatchObject({ round: 2, attemptNumber: 1 });
  }
  const audited = await fixture.database.query<{ after: object }>(
    `SELECT after FROM audit_log WHERE action = 'delivery.recover' ORDER BY id`,
  );
  expect(audited).toMatchObject([{ after: { count: 2 } }, { after: { count: 1 } }]);
});

test('an interrupted recovery continues when it is run again, and two at once take different deliveries', async () => {
  const fixture = await createFixture();
  for (let n = 0; n < 4; n += 1) await exhausted(fixture);
  await page(fixture, everything, 1);
  const both = await Promise.all([page(fixture, everything, 2), page(fixture, everything, 2)]);
  const counts = both.map((one) => one?.count ?? 0);
  const last = await page(fixture, everything, 10);
  expect(counts[0] ?? 0).toBeGreaterThan(0);
  expect((counts[0] ?? 0) + (counts[1] ?? 0) + (last?.count ?? 0)).toBe(3);
});

test('a recovery finds only recent deliveries of the given tenant with an active URL', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const [one, other] = [await exhausted(fixture), await exhausted(fixture)];
  const [row] = await database.query<{ now: Date }>(
    `SELECT svc_now() + interval '1 minute' AS now`,
  );
  const later = { ...everything, since: row?.now ?? new Date() };
  expect(await countRecoverable(store, later)).toBe(0);
  expect(await countRecoverable(store, { ...everything, tenantId: one.tenantId })).toBe(1);
  await changeSettings(store, other.tenantId, { webhookUrl: null }, tenantAuthor(other.tenantId));
  expect(await countRecoverable(store, everything)).toBe(1);
});

test.each([-60, 60])(
  'a host whose clock is %s minutes off does not affect which deliveries are recent',
  async (offsetMinutes) => {
    const fixture = await createFixture();
    const { store, database } = fixture;
    const host = {
      ...store,
      newId: () => {
        const time = (Date.now() + offsetMinutes * 60_000).toString(16).padStart(12, '0');
        return `${time.slice(0, 8)}-${time.slice(8)}-7${store.newId().slice(15)}`;
      },
    };
    const [start] = await database.query<{ now: Date }>('SELECT svc_now() AS now');
    const since = start?.now ?? new Date();
    for (const one of [host, store, host]) await exhausted({ ...fixture, store: one });
    const recovery = { ...everything, since };
    expect(await countRecoverable(store, recovery)).toBe(3);
    const first = await page(fixture, recovery, 2);
    const second = await page(fixture, recovery, 2, first?.last);
    expect([first?.count, second?.count]).toEqual([2, 1]);
    const [end] = await database.query<{ now: Date }>(
      `SELECT svc_now() + interval '1 minute' AS now`,
    );
    await exhausted({ ...fixture, store: host });
    expect(await countRecoverable(store, { ...everything, since: end?.now ?? since })).toBe(0);
  },
);

test('dropped deliveries are recovered only on request, and not while an attempt is in flight', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const tenantId = await fixture.tenant(0, url);
  await queueWebhookTest(store, { tenantId, requestId: 'req-1' });
  await claimFor(store, tenantId);
  const author = tenantAuthor(tenantId);
  await changeSettings(store, tenantId, { webhookUrl: null }, author);
  await changeSettings(store, tenantId, { webhookUrl: url }, author);
  const dropped: Recovery = { ...everything, statuses: ['exhausted', 'dropped'] };
  expect(await countRecoverable(store, dropped)).toBe(0);
  await fixture.advance(attemptClaimMs + 1);
  expect(await countRecoverable(store, everything)).toBe(0);
  expect(await countRecoverable(store, dropped)).toBe(1);
});

test('an operator sees and resends the deliveries of any tenant, and the audit log records it', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const { tenantId, deliveryId } = await exhausted(fixture);
  expect(await findDelivery(store, null, deliveryId)).toMatchObject({ tenantId });
  const all = { status: null, afterId: null, limit: 10 };
  expect(await listDeliveries(store, null, all)).toHaveLength(1);
  expect(await redeliver(store, { tenantId, deliveryId }, by)).toEqual({ kind: 'queued' });
  const audited = await database.query(
    `SELECT actor_name, before, after FROM audit_log WHERE action = 'delivery.redeliver'`,
  );
  expect(audited).toEqual([
    { actor_name: 'ana', before: { status: 'exhausted' }, after: { status: 'pending' } },
  ]);
});
