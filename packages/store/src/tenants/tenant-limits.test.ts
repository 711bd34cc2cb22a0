import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { untilWebhooksAllowedMs } from '../deliveries/webhook-caps.ts';
import { createFixture } from '../store.fixture.ts';
import { changeSettings, type SettingsChange } from './settings.ts';
import { findTenant } from './tenants.ts';

async function openTenant() {
  const { store, tenant, hold, database } = await createFixture();
  const tenantId = await tenant(10_000);
  const set = (change: SettingsChange) => changeSettings(store, tenantId, change, testAuthor);
  const shown = () => findTenant(store, tenantId);
  return { store, tenantId, hold, database, set, shown };
}

test('an operator sets and removes the limit of submissions in flight, and it is audited', async () => {
  const { tenantId, hold, database, set, shown } = await openTenant();
  expect(await shown()).toMatchObject({ inFlightMax: null });
  expect((await set({ inFlightMax: 1 }))?.tenant).toMatchObject({ inFlightMax: 1 });
  expect((await hold(tenantId, { key: 'a' })).outcome.kind).toBe('held');
  expect((await hold(tenantId, { key: 'b' })).outcome.kind).toBe('in_flight_max');
  await set({ rebateMillionths: 5 });
  expect((await hold(tenantId, { key: 'b' })).outcome.kind).toBe('in_flight_max');
  await set({ inFlightMax: null });
  expect((await hold(tenantId, { key: 'b' })).outcome.kind).toBe('held');
  const audited = await database.query(
    `SELECT before, after FROM audit_log WHERE action = 'tenant.update' AND after ? 'inFlightMax' ORDER BY id`,
  );
  expect(audited).toEqual([
    { before: { inFlightMax: null }, after: { inFlightMax: 1 } },
    { before: { inFlightMax: 1 }, after: { inFlightMax: null } },
  ]);
});

test('an operator sets and removes the cap of webhook attempts, and this hour stays counted', async () => {
  const { store, tenantId, database, set, shown } = await openTenant();
  expect(await shown()).toMatchObject({ webhookAttemptsPerHour: null });
  expect((await set({ webhookAttemptsPerHour: 3 }))?.tenant.webhookAttemptsPerHour).toBe(3);
  await database.query('UPDATE webhook_caps SET attempts = 3 WHERE tenant_id = $1', [tenantId]);
  expect(await untilWebhooksAllowedMs(store.query, tenantId)).toBeGreaterThan(0);
  await set({ webhookAttemptsPerHour: 4 });
  expect(await untilWebhooksAllowedMs(store.query, tenantId)).toBe(0);
  await set({ webhookAttemptsPerHour: 2 });
  expect(await untilWebhooksAllowedMs(store.query, tenantId)).toBeGreaterThan(0);
  expect((await set({ webhookAttemptsPerHour: null }))?.tenant.webhookAttemptsPerHour).toBeNull();
  expect(await untilWebhooksAllowedMs(store.query, tenantId)).toBe(0);
  const [last] = await database.query(
    `SELECT before, after FROM audit_log WHERE action = 'tenant.update' ORDER BY id DESC LIMIT 1`,
  );
  expect(last).toEqual({
    before: { webhookAttemptsPerHour: 2 },
    after: { webhookAttemptsPerHour: null },
  });
});
