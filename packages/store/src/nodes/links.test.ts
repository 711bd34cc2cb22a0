import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { recordHello, takeLinkEpoch } from './links.ts';
import { findNode } from './nodes.ts';

test('each link of a node gets a higher number than those before it, and only the last says hello', async () => {
  const { store, node } = await createFixture();
  const nodeId = await node();
  const other = await takeLinkEpoch(store, await node());
  const epochs = await Promise.all([1, 2, 3].map(() => takeLinkEpoch(store, nodeId)));
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
