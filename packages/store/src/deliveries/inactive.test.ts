import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { dropInactiveDeliveries } from './deliveries.ts';

test('the time to drop a backlog does not depend on the backlogs of other tenants', async () => {
  const { database, store, tenant } = await createFixture();
  const [tenantId, other] = [await tenant(), await tenant()];
  const insert = (count: number, ofTenant: string, status: 'delivered' | 'pending') =>
    database.query(
      `INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, created_at,
         round_started_at, finished_at)
       SELECT gen_random_uuid(), $1, gen_random_uuid(), 'submission.completed', $2,
         CASE $2 WHEN 'pending' THEN svc_now() END, svc_now(), svc_now(),
         CASE $2 WHEN 'pending' THEN NULL ELSE svc_now() END
       FROM generate_series(1, ${count})`,
      [ofTenant, status],
    );
  // The statistics are from before the backlogs.
  await insert(2_000, other, 'delivered');
  await database.query('ANALYZE deliveries');
  await insert(20_000, tenantId, 'pending');
  await insert(60_000, other, 'pending');
  await dropInactiveDeliveries(store, { tenantId, targetId: null });
  const left = await database.query(
    `SELECT FROM deliveries WHERE tenant_id = $1 AND status = 'pending'`,
    [tenantId],
  );
  expect(left).toEqual([]);
});
