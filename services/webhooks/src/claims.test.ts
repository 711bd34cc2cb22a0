import { createEndpoint } from '@svc/store';
import { testAuthor } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Deliverer } from './deliverer.ts';
import { createWebhooksFixture } from './webhooks.fixture.ts';

test('while claims at endpoints fail, no attempt at the URL of the settings is lost', async () => {
  const fixture = await createWebhooksFixture();
  onTestFinished(() => fixture.close());
  const [tenantId, otherId] = [await fixture.tenant(), await fixture.tenant()];
  const deliveryId = await fixture.delivery(tenantId);
  const url = `${fixture.receiver.url}endpoint`;
  const ask = { tenantId: otherId, url, events: null, description: null, secret: 'whsec_Mg==' };
  const created = await createEndpoint(fixture.deps.store, ask, testAuthor);
  if (created.kind !== 'created') throw new Error(created.kind);
  const { id: targetId } = created.endpoint;
  await fixture.delivery(otherId);
  await fixture.database.query(`
    CREATE FUNCTION refuse_broken() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'this delivery is broken'; END $$`);
  await fixture.database.query(
    `CREATE TRIGGER refuse_broken BEFORE UPDATE ON deliveries FOR EACH ROW
     WHEN (OLD.target_id = '${targetId}') EXECUTE FUNCTION refuse_broken()`,
  );
  const deliverer = new Deliverer(fixture.deps);
  // Both destinations wait until the pause ends, so that one claim asks for both.
  deliverer.setPaused(true);
  deliverer.wake([tenantId]);
  deliverer.wakeTargets([{ tenantId: otherId, targetId }]);
  deliverer.setPaused(false);
  await deliverer.idle();
  await deliverer.close();
  expect(await fixture.read(deliveryId)).toMatchObject({ status: 'delivered', attempt_count: 1 });
});
