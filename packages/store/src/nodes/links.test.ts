import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createFixture, newLinkEpoch } from '../store.fixture.ts';
import { disableNode, rotateNodeSecret } from './changes.ts';
import { recordHello, takeLinkEpoch } from './links.ts';
import { findNode } from './nodes.ts';

test('each link of a node gets a higher number than those before it, and only the last says hello', async () => {
  const { store, node } = await createFixture();
  const nodeId = await node();
  const other = await newLinkEpoch(store, await node());
  const epochs = await Promise.all([1, 2, 3].map(() => newLinkEpoch(store, nodeId)));
  const [first = 0, second = 0, third = 0] = epochs.toSorted((a, b) => a - b);
  expect([second - first, third - second]).toEqual([1, 1]);
  expect(other).toBe(first);
  for (const linkEpoch of [first, second, third + 1]) {
    expect(await recordHello(store, { nodeId, agentVersion: 'old', linkEpoch })).toBeNull();
  }
  expect(await findNode(store, nodeId)).toMatchObject({ agentVersion: null, lastSeenAt: null });
  const hello = await recordHello(store, { nodeId, agentVersion: 'new', linkEpoch: third });
  expect(hello).toEqual({ quarantinedUntil: null });
  expect(await findNode(store, nodeId)).toMatchObject({ agentVersion: 'new' });
});

test('a disabled node and a secret that is no longer valid get no link', async () => {
  const { store, node, advance } = await createFixture();
  const nodeId = await node();
  const take = (secretVersion: number) => takeLinkEpoch(store, { nodeId, secretVersion });
  const rotation = { nodeId, secret: 'nsk_2', overlapMs: 60_000, force: false };
  await rotateNodeSecret(store, rotation, testAuthor);
  expect([await take(1), await take(2), await take(3)]).toEqual([1, 2, null]);
  await advance(60_000);
  expect([await take(1), await take(2)]).toEqual([null, 3]);
  await disableNode(store, nodeId, testAuthor);
  expect(await take(2)).toBeNull();
});
