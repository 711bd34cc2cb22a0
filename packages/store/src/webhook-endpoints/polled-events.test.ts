import { polledEventAgeMaxMs, polledEventsMax } from '@svc/domain';
import { stopDatabaseClock, testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { beginOther } from '../lock-wait.fixture.ts';
import { createFixture } from '../store.fixture.ts';
import { deleteEndpoint } from './changes.ts';
import { endpointTools } from './endpoints.fixture.ts';
import { dropUnreadableEvents, findPolledNews, readPolledEvents } from './polled-events.ts';

const url = 'https://hooks.example.com/';
const events = ['submission.cancelled'];

/** A polled endpoint with three events, at the positions 1 to 3, and a clock that stands still. */
async function createPolled() {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const openedAt = new Date();
  const clockAt = (ms: number) =>
    stopDatabaseClock(database.databaseUrl, new Date(openedAt.getTime() + ms));
  await clockAt(0);
  const tenantId = await fixture.tenant(5_000);
  const { endpoint, cancelOne } = endpointTools(fixture, url);
  const endpointId = await endpoint(tenantId, { url: null, events });
  for (let count = 0; count < 3; count += 1) await cancelOne(tenantId);
  const read = (after = 0n, limit = 10, of = { tenantId, endpointId }) =>
    readPolledEvents(store, { ...of, after, limit });
  return {
    ...fixture,
    endpoint,
    cancelOne,
    clockAt,
    tenantId,
    endpointId,
    read,
    /** The positions that can be read. */
    positions: async (after = 0n, limit = 10) => {
      const page = await read(after, limit);
      if (page.kind !== 'events') return page.kind;
      const ids = page.events.map(({ deliveryId }) => deliveryId);
      const rows = await database.query<{ id: string; position: string }>(
        'SELECT id, position FROM deliveries WHERE id = ANY($1::uuid[])',
        [ids],
      );
      const at = new Map(rows.map((row) => [row.id, Number(row.position)]));
      return [ids.map((id) => at.get(id)), Number(page.position)];
    },
    setLast: (last: number) =>
      database.query('UPDATE webhook_endpoints SET last_position = $1', [last]),
  };
}

test('events are read in the order of their positions, from the given one, up to the limit', async () => {
  const { positions, database, read } = await createPolled();
  // The positions are in the reverse order of the rows.
  await database.query(
    'UPDATE deliveries SET position = -position; UPDATE deliveries SET position = 4 + position',
  );
  expect(await positions()).toEqual([[1, 2, 3], 3]);
  expect(await positions(0n, 2)).toEqual([[1, 2], 2]);
  expect(await positions(1n)).toEqual([[2, 3], 3]);
  expect(await positions(3n)).toEqual([[], 3]);
  expect(await positions(7n)).toEqual([[], 7]);
  const page = await read(2n);
  const [event] = page.kind === 'events' ? page.events : [];
  expect(JSON.parse(event?.body ?? '{}')).toMatchObject({ type: 'submission.cancelled' });
});

test('only the newest 1,000 positions of the last day are read, and the rest is skipped', async () => {
  const { positions, setLast, clockAt } = await createPolled();
  await setLast(polledEventsMax + 1);
  expect(await positions()).toEqual([[2, 3], 3]);
  await clockAt(polledEventAgeMaxMs - 1);
  expect(await positions()).toEqual([[2, 3], 3]);
  await clockAt(polledEventAgeMaxMs);
  expect(await positions()).toEqual([[], polledEventsMax + 1]);
  expect(await positions(9_999n)).toEqual([[], 9_999]);
});

test('the events of an endpoint are read by its tenant only, while it is there and without a URL', async () => {
  const polled = await createPolled();
  const { read, tenantId, endpointId, store } = polled;
  const none = { kind: 'not_found' };
  expect(await read(0n, 9, { tenantId: await polled.tenant(), endpointId })).toEqual(none);
  expect(await read(0n, 9, { tenantId, endpointId: store.newId() })).toEqual(none);
  const pushed = await polled.endpoint(tenantId);
  expect(await read(0n, 9, { tenantId, endpointId: pushed })).toEqual(none);
  const second = await polled.endpoint(tenantId, { url: null, events });
  expect(await read(0n, 9, { tenantId, endpointId: second })).toMatchObject({ events: [] });
  await polled.database.query(`UPDATE deliveries SET status = 'dropped', finished_at = svc_now()
    WHERE position = 2`);
  expect(await polled.positions()).toEqual([[1, 3], 3]);
  await deleteEndpoint(store, { tenantId, endpointId }, testAuthor);
  expect(await read()).toEqual(none);
});

test('a reader hears of newer events, and of an endpoint that is gone', async () => {
  const { store, tenantId, endpointId, endpoint } = await createPolled();
  const silent = await endpoint(tenantId, { url: null, events });
  const unknown = store.newId();
  const news = (after: bigint) =>
    findPolledNews(
      store,
      [endpointId, silent, unknown].map((id) => ({ endpointId: id, after })),
    );
  expect(await news(2n)).toEqual(new Set([endpointId, unknown]));
  expect(await news(3n)).toEqual(new Set([unknown]));
  await deleteEndpoint(store, { tenantId, endpointId: silent }, testAuthor);
  expect(await news(3n)).toEqual(new Set([silent, unknown]));
});

test.each([
  ['of the last 1,000 positions', polledEventsMax, 0, []],
  ['before them', polledEventsMax + 2, 0, [1, 2]],
  ['of the last day', 3, polledEventAgeMaxMs - 1, []],
  ['a day old', 3, polledEventAgeMaxMs, [1, 2, 3]],
])(
  'waiting events %s are dropped if they cannot be read (last: %i, after %i ms)',
  async (_, last, ms, dropped) => {
    const { store, database, setLast, clockAt } = await createPolled();
    await setLast(last);
    await clockAt(ms);
    expect(await dropUnreadableEvents(store, 10)).toBe(dropped.length);
    const rows = await database.query<{ position: string }>(
      `SELECT position FROM deliveries WHERE status = 'dropped' AND finished_at = svc_now() ORDER BY 1`,
    );
    expect(rows.map(({ position }) => Number(position))).toEqual(dropped);
  },
);

test('the oldest events of each endpoint are dropped up to the limit, except those that are locked', async () => {
  const polled = await createPolled();
  const { store, database, tenantId, clockAt } = polled;
  await polled.endpoint(tenantId, { url: null, events });
  const pushed = await polled.endpoint(tenantId);
  await polled.cancelOne(tenantId);
  await clockAt(polledEventAgeMaxMs);
  const lock = await beginOther(polled);
  await lock.query('SELECT FROM deliveries WHERE position = 2 FOR UPDATE');
  expect(await dropUnreadableEvents(store, 2)).toBe(3);
  await lock.commit();
  const left = async () =>
    (
      await database.query<{ position: string }>(
        `SELECT position FROM deliveries WHERE status = 'waiting' ORDER BY 1`,
      )
    ).map(({ position }) => Number(position));
  expect(await left()).toEqual([2, 4]);
  expect(await dropUnreadableEvents(store, 10)).toBe(2);
  expect(await left()).toEqual([]);
  const queued = await database.query('SELECT status FROM deliveries WHERE target_id = $1', [
    pushed,
  ]);
  expect(queued).toEqual([{ status: 'queued' }]);
});
