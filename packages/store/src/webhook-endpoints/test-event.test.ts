import { testAuthor } from '@svc/testkit';
import { afterAll, expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { openFixture } from '../store.fixture.ts';
import { createEndpoint } from './changes.ts';
import { queueEndpointTest } from './test-event.ts';

const fixture = await openFixture();
const { store } = fixture;
afterAll(() => fixture.close());

test('the attempts of an hour do not limit test events that the tenant reads itself', async () => {
  const tenantId = await fixture.tenant(1_000, null);
  await fixture.database.query(
    `INSERT INTO webhook_caps (tenant_id, attempts_per_hour, attempts, hour)
     VALUES ($1, 1, 1, date_trunc('hour', svc_now(), 'UTC'))`,
    [tenantId],
  );
  const queue = async (url: string | null): Promise<string> => {
    const wanted = { tenantId, url, events: null, description: null, secret: 'whsec_Mg==' };
    const created = await createEndpoint(store, wanted, testAuthor);
    if (created.kind !== 'created') throw new Error(created.kind);
    const endpointId = created.endpoint.id;
    return (await queueEndpointTest(store, { tenantId, endpointId, requestId: 'r' })).kind;
  };
  expect(await queue('https://hooks.example.com/')).toBe('too_soon');
  expect(await queue(null)).toBe('queued');
});

test('a test event and a change of the same endpoint wait for each other without a deadlock', async () => {
  const tenantId = await fixture.tenant(1_000, null);
  const wanted = { tenantId, url: null, events: null, description: null, secret: 'whsec_Mg==' };
  const created = await createEndpoint(store, wanted, testAuthor);
  if (created.kind !== 'created') throw new Error(created.kind);
  const endpointId = created.endpoint.id;
  const change = await beginOther(fixture);
  await change.query('SELECT 1 FROM tenants WHERE id = $1 FOR UPDATE', [tenantId]);
  const queued = queueEndpointTest(store, { tenantId, endpointId, requestId: 'r' });
  await untilLockWait(fixture);
  await change.query('SELECT 1 FROM webhook_endpoints WHERE id = $1 FOR UPDATE', [endpointId]);
  await change.commit();
  expect(await queued).toMatchObject({ kind: 'queued' });
});
