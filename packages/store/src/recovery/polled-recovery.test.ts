import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { endpointTools } from '../webhook-endpoints/endpoints.fixture.ts';
import { findPolledNews, readPolledEvents } from '../webhook-endpoints/polled-events.ts';
import { beginRecovery, endRecovery } from './recovery.ts';

test('after a restore, a reader with its cursor from before gets the new events', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const tenantId = await fixture.tenant(5_000, null);
  const tools = endpointTools(fixture, 'https://hooks.example.com/');
  const endpointId = await tools.endpoint(tenantId, { url: null });
  const cancelOne = () => tools.cancelOne(tenantId);
  const read = async (after: bigint) => {
    const page = await readPolledEvents(store, { tenantId, endpointId, after, limit: 100 });
    if (page.kind !== 'events') throw new Error(page.kind);
    return page;
  };
  await cancelOne();
  // The state of the backup: one event. Two more follow, and the tenant reads all three.
  await cancelOne();
  await cancelOne();
  const { events, position } = await read(0n);
  expect(events).toHaveLength(3);
  const lost = events.slice(1).map(({ deliveryId }) => deliveryId);
  await database.query('DELETE FROM deliveries WHERE id = ANY($1::uuid[])', [lost]);
  await database.query('UPDATE webhook_endpoints SET last_position = 1 WHERE id = $1', [
    endpointId,
  ]);
  expect(await beginRecovery(store, testAuthor)).toMatchObject({ kind: 'begun' });
  expect(await endRecovery(store, { force: true }, testAuthor)).toMatchObject({ kind: 'ended' });
  await cancelOne();
  await cancelOne();
  const news = await findPolledNews(store, [{ endpointId, after: position }]);
  const later = await read(position);
  expect([news.size, later.events.length]).toEqual([1, 3]);
  expect((await read(later.position)).events).toEqual([]);
  await cancelOne();
  const last = await read(later.position);
  expect(last.events).toHaveLength(1);
  // The same backup is restored again.
  await database.query(`SET session_replication_role = replica;
    DELETE FROM recoveries; DELETE FROM deliveries WHERE id <> '${events[0]?.deliveryId}';
    UPDATE deliveries SET position = 1; UPDATE webhook_endpoints SET last_position = 1;
    SET session_replication_role = origin`);
  await fixture.advance(60_000);
  await beginRecovery(store, testAuthor);
  await endRecovery(store, { force: true }, testAuthor);
  await cancelOne();
  expect((await read(last.position)).events).toHaveLength(2);
});
