import { webhookAgeMaxMs } from '@svc/domain';
import { silent } from '@svc/startup/fixture';
import {
  createEndpoint,
  databaseNow,
  forgetSealingKeys,
  publishKeys,
  readDeadLetters,
  withdrawKeys,
} from '@svc/store';
import { openRotated } from '@svc/store/fixture';
import { testAuthor } from '@svc/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRecovery } from './recover.ts';
import { createWebhooksFixture, type WebhooksFixture } from './webhooks.fixture.ts';

let fixture: WebhooksFixture;
let woken: string[];
let paused: boolean[];
let recover: () => Promise<void>;

beforeEach(async () => {
  fixture = await createWebhooksFixture();
  woken = [];
  paused = [];
  recover = createRecovery({
    store: fixture.deps.store,
    producer: fixture.producer,
    deliverer: {
      wake: (tenantIds) => void woken.push(...tenantIds),
      wakeTargets: (targets) => void woken.push(...targets.map(({ targetId }) => targetId)),
      setPaused: (isPaused) => void paused.push(isPaused),
      forgetOldBreakers: () => {},
    },
    logger: silent,
  });
});
afterEach(() => fixture.close());

const breakDeliveries = async (ids: readonly string[]) => {
  await fixture.database.query(`
    CREATE FUNCTION refuse_broken() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'this delivery is broken'; END $$`);
  await fixture.database.query(
    `CREATE TRIGGER refuse_broken BEFORE UPDATE ON deliveries FOR EACH ROW
     WHEN (OLD.id IN (${ids.map((id) => `'${id}'`).join(', ')})) EXECUTE FUNCTION refuse_broken()`,
  );
};

test('deliveries that cannot be ended do not block others from being ended or sent', async () => {
  const tenantId = await fixture.tenant();
  const broken = [await fixture.delivery(tenantId), await fixture.delivery(tenantId)];
  const aged = await fixture.delivery(tenantId);
  await breakDeliveries(broken);
  await fixture.advance(webhookAgeMaxMs);
  const dueTenantId = await fixture.tenant();
  await fixture.delivery(dueTenantId);
  await expect(recover()).rejects.toThrow('could not mark deliveries as exhausted: 2');
  expect((await fixture.read(aged)).status).toBe('exhausted');
  expect(woken).toContain(dueTenantId);
  // Both broken deliveries are in backoff, so this pass does not try them and does not fail.
  await recover();
});

test('the deliverer pauses while the process lacks a master key', async () => {
  const { store } = fixture.deps;
  const rotated = openRotated(fixture);
  const holder = { id: rotated.newId(), service: 'webhooks', host: 'beta' };
  await recover();
  await publishKeys(rotated, holder);
  await recover();
  expect(paused).toEqual([false, true]);
  // Everything was sealed under the old key again.
  await withdrawKeys(rotated, holder.id);
  await rotated.close();
  await fixture.advance(5);
  await forgetSealingKeys(store, await databaseNow(store));
  await recover();
  expect(paused).toEqual([false, true, false]);
});

test('a delivery that cannot be ended becomes a dead letter until it has ended', async () => {
  const { store } = fixture.deps;
  const broken = await fixture.delivery(await fixture.tenant());
  await breakDeliveries([broken]);
  await fixture.advance(webhookAgeMaxMs);
  for (let failure = 1; failure <= 5; failure += 1) {
    await expect(recover()).rejects.toThrow('could not mark deliveries as exhausted: 1');
    await fixture.advance(900_000);
  }
  expect(await readDeadLetters(store, 10)).toMatchObject({
    retrying: 0,
    count: 1,
    listed: [{ reconciler: 'webhook', subjectId: broken, kind: 'aged_delivery', failures: 5 }],
  });
  await fixture.database.query('DROP TRIGGER refuse_broken ON deliveries');
  await recover();
  expect((await fixture.read(broken)).status).toBe('exhausted');
  expect(await fixture.database.query('SELECT FROM reconcile_failures')).toEqual([]);
});

test('events that an endpoint no longer keeps are dropped in the pass that finds them', async () => {
  const tenantId = await fixture.tenant();
  const { store } = fixture.deps;
  const ask = { tenantId, url: null, events: null, description: null, secret: 'whsec_Mg==' };
  const created = await createEndpoint(store, ask, testAuthor);
  if (created.kind !== 'created') throw new Error(created.kind);
  const { id: endpointId } = created.endpoint;
  await fixture.database.query(
    `INSERT INTO deliveries (id, tenant_id, event_id, type, status, created_at, round_started_at,
       target_id, endpoint_id)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), 'submission.completed', 'waiting', svc_now(),
       svc_now(), $2, $2 FROM generate_series(1, 2200)`,
    [tenantId, endpointId],
  );
  await recover();
  const waiting = await fixture.database.query(
    "SELECT FROM deliveries WHERE target_id = $1 AND status = 'waiting'",
    [endpointId],
  );
  expect(waiting).toHaveLength(1_000);
});
