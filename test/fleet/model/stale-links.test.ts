import { expect, test } from 'vitest';
import { followNode } from '../../../services/dispatcher/src/fleet/follow-nodes.ts';
import type { ModelDispatcher } from './dispatcher.ts';
import type { ModelNode } from './node.ts';
import { useRig } from './rig.fixture.ts';
import { passVerdict } from './verdict.ts';
import { World } from './world.ts';

/**
 * While a dispatcher waits for Postgres, its link ends or is replaced. It must then leave alone the
 * submissions that the node runs on another link (CONTRACT 7, "Instances").
 */
const rig = await useRig();

interface Cast {
  readonly world: World;
  readonly node: ModelNode;
  /** The dispatcher that a test stalls, or whose link ends during the `hello`. */
  readonly stalled: ModelDispatcher;
  readonly other: ModelDispatcher;
}

async function play(run: (cast: Cast) => Promise<void>): Promise<void> {
  const world = await World.open(rig, { nodes: 1, dispatchers: 2 });
  try {
    const [node] = world.nodes;
    const [stalled, other] = world.alive;
    if (node === undefined || stalled === undefined || other === undefined) throw new Error('?');
    node.link?.cut();
    await world.settled();
    await run({ world, node, stalled, other });
    expect(await passVerdict(world, { isHealed: true })).toEqual([]);
  } finally {
    await world.close();
  }
}

async function stateOf({ tenantId }: World): Promise<string | undefined> {
  const [row] = await rig.query<{ state: string }>(
    'SELECT state FROM submissions WHERE tenant_id = $1',
    [tenantId],
  );
  return row?.state;
}

async function beginThere({ world, node }: Cast, dispatcher: ModelDispatcher): Promise<void> {
  await world.post(['standard'], dispatcher);
  await world.settled();
  const [offer] = node.offers.values();
  if (offer !== undefined) node.answer(offer, 'accept');
  await world.settled();
  for (const submissionId of node.journal.keys()) node.send({ type: 'start', submissionId });
  await world.settled();
  expect(await stateOf(world)).toBe('running');
}

test('the hello of a stale link does not end what its node has begun elsewhere', async () => {
  await play(async (cast) => {
    const { world, node, stalled, other } = cast;
    const resume = stalled.mortal.stall();
    stalled.connect(node);
    await world.settled();
    node.link?.cutUnnoticed();
    other.connect(node);
    await world.settled();
    await beginThere(cast, other);
    resume();
    await world.settled();
    expect(await stateOf(world)).toBe('running');
    expect(node.link?.isOpen).toBe(true);
  });
});

test.each([1, 2, 3])(
  'a link that ends at statement %i of its hello takes no slot',
  async (calls) => {
    await play(async (cast) => {
      const { world, node, stalled, other } = cast;
      other.connect(node);
      await world.settled();
      await beginThere(cast, other);
      stalled.mortal.strikeAt(calls, 'after', () => node.link?.cut());
      stalled.connect(node);
      await world.settled();
      expect(node.link).toBeUndefined();
      expect(stalled.logic.links.bySubmission.size).toBe(0);
    });
  },
);

test('a dispatcher that was late to disable a node does not end what the enabled node runs', async () => {
  await play(async (cast) => {
    const { world, node, stalled, other } = cast;
    stalled.connect(node);
    await world.settled();
    await rig.query('UPDATE nodes SET disabled_at = svc_now() WHERE id = $1', [node.id]);
    let resume: (() => void) | undefined;
    stalled.mortal.strikeAt(1, 'after', () => (resume = stalled.mortal.stall()));
    await followNode(stalled.logic, node.id);
    await rig.query('UPDATE nodes SET disabled_at = NULL WHERE id = $1', [node.id]);
    other.connect(node);
    await world.settled();
    await beginThere(cast, other);
    resume?.();
    await world.settled();
    expect(await stateOf(world)).toBe('running');
  });
});
