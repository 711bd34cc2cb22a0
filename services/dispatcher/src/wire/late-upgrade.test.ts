import { disableNode, rotateNodeSecret } from '@svc/store';
import { lockTables, testAuthor, waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import { useDispatching, uuidOf } from '../dispatcher.fixture.ts';

const service = await useDispatching();

test.each([
  ['the node was disabled', (nodeId: string) => disableNode(service.store, nodeId, testAuthor)],
  [
    "the node's secret was replaced",
    (nodeId: string) => {
      const rotation = { nodeId, secret: 'nsk_second', overlapMs: 0, force: false };
      return rotateNodeSecret(service.store, rotation, testAuthor);
    },
  ],
])('an upgrade that was authenticated before %s is refused', async (_, change) => {
  const { database } = service;
  const own = await service.newNode();
  const unlock = await lockTables(
    database.databaseUrl,
    ['node_link_signatures'],
    'ACCESS EXCLUSIVE',
  );
  const connected = service.connect(own).then(
    () => 'opened',
    (error: unknown) => error,
  );
  // An upgrade stores its signature after its authentication.
  await waitUntil(async () => {
    const waiting = await database.query(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
       AND query LIKE '%node_link_signatures%'`,
    );
    return waiting.length > 0;
  });
  await change(uuidOf(own.nodeId));
  await unlock();
  expect(await connected).toMatchObject({ status: 401 });
});
