import { describe, expect, test } from 'vitest';
import type { Moment } from './mortal.ts';
import type { JournalRun, ModelNode } from './node.ts';
import { useRig } from './rig.fixture.ts';
import { passVerdict } from './verdict.ts';
import { World } from './world.ts';

/**
 * The first tests cause each fault at each point of the table in decision 16. Decision 18 replaces
 * three cells of this table.
 */

const rig = await useRig();

const faults = ['dispatcher killed', 'agent killed', 'link cut', 'both killed'] as const;
type Fault = (typeof faults)[number];

/**
 * The moment of a fault in a step. `before` and `after`: before or after the dispatcher's commit.
 * `sent`: after the dispatcher's next frame has arrived at the node.
 */
type At = Moment | 'sent';

type Step = 'accept' | 'start' | 'complete';
const steps: readonly Step[] = ['accept', 'start', 'complete'];

interface Point {
  readonly step: Step;
  readonly at: At;
  readonly name: string;
  /**
   * For each fault, the last state of the submission. After `failed`, the text also has the failure
   * code, as in `failed node_lost`.
   */
  readonly ends: Readonly<Record<Fault, string>>;
}

const submitted = {
  'dispatcher killed': 'submitted',
  'agent killed': 'submitted',
  'link cut': 'submitted',
  'both killed': 'submitted',
};
const nodeLost = 'failed node_lost';

const points: readonly Point[] = [
  {
    step: 'accept',
    at: 'before',
    name: 'accepted, `dispatched` not committed',
    ends: {
      'dispatcher killed': 'rejected',
      'agent killed': nodeLost,
      'link cut': nodeLost,
      'both killed': 'rejected',
    },
  },
  {
    step: 'accept',
    at: 'after',
    name: '`dispatched` committed, `assign` not sent',
    ends: {
      'dispatcher killed': nodeLost,
      'agent killed': nodeLost,
      'link cut': nodeLost,
      'both killed': nodeLost,
    },
  },
  { step: 'accept', at: 'sent', name: '`assign` sent', ends: submitted },
  {
    step: 'start',
    at: 'before',
    name: '`start` sent, `running` not committed',
    ends: { ...submitted, 'agent killed': nodeLost },
  },
  {
    step: 'start',
    at: 'after',
    name: '`running` committed, `begin` not sent',
    ends: { ...submitted, 'agent killed': nodeLost, 'both killed': nodeLost },
  },
  {
    step: 'start',
    at: 'sent',
    name: '`begin` sent',
    ends: {
      ...submitted,
      'agent killed': 'failed node_error',
      'both killed': 'failed node_error',
    },
  },
  { step: 'complete', at: 'before', name: '`completed` sent, not stored', ends: submitted },
  { step: 'complete', at: 'after', name: 'outcome stored, `ack` not sent', ends: submitted },
  { step: 'complete', at: 'sent', name: '`ack` sent', ends: submitted },
];

function take(node: ModelNode, step: Step): void {
  const [run] = node.journal.values();
  if (step === 'accept') {
    const [offer] = node.offers.values();
    if (offer !== undefined) node.answer(offer, 'accept');
  } else if (step === 'start' && run?.phase === 'assigned') {
    node.send({ type: 'start', submissionId: run.submissionId });
  } else if (step === 'complete' && run?.phase === 'begun') {
    complete(node, run);
  }
}

function complete(node: ModelNode, run: JournalRun): void {
  const { submissionId } = run;
  node.end(run, { type: 'completed', submissionId, usage: {}, result: {} });
}

function strike(world: World, node: ModelNode, fault: Fault): void {
  if (fault === 'agent killed' || fault === 'both killed') {
    node.link?.cut();
    node.restarted();
  }
  if (fault === 'link cut') node.link?.cut();
  if (fault === 'dispatcher killed' || fault === 'both killed') world.alive[0]?.mortal.die();
}

async function endOf({ tenantId }: World): Promise<string> {
  const [row] = await rig.query<{ state: string; failure_code: string | null }>(
    'SELECT state, failure_code FROM submissions WHERE tenant_id = $1',
    [tenantId],
  );
  return [row?.state, row?.failure_code].filter((part) => part !== null).join(' ');
}

async function live(world: World, point: Point, fault: Fault): Promise<void> {
  const [node] = world.nodes;
  const [dispatcher] = world.alive;
  if (node === undefined || dispatcher === undefined)
    throw new Error('the run has no node or no dispatcher');
  await world.post(['standard'], dispatcher);
  await world.settled();
  for (const step of steps.slice(0, steps.indexOf(point.step))) {
    take(node, step);
    await world.settled();
  }
  const hit = (): void => strike(world, node, fault);
  if (point.at !== 'sent') dispatcher.mortal.strikeAt(1, point.at, hit);
  take(node, point.step);
  await world.settled();
  if (point.at === 'sent') hit();
  await world.settled();
  if (world.alive.length === 0) await world.startDispatcher();
  world.alive[0]?.connect(node);
  await world.settled();
  for (const step of steps.slice(1)) {
    take(node, step);
    await world.settled();
  }
}

describe.each(points)('$name', (point) => {
  test.each(faults)('%s', async (fault) => {
    const world = await World.open(rig, { nodes: 1, dispatchers: 1 });
    try {
      await live(world, point, fault);
      expect(await passVerdict(world, { isHealed: true })).toEqual([]);
      expect(await endOf(world)).toBe(point.ends[fault]);
    } finally {
      await world.close();
    }
  });
});

describe('the dispatcher that coordinates is killed, another one holds the link', () => {
  test.each([
    ['with the offer open: the node still gets the job', 'submitted', true],
    [
      'with the offer declined after that: no other node is asked, and the hold is released',
      'rejected',
      false,
    ],
  ])('%s', async (_name, ends, accepts) => {
    const world = await World.open(rig, { nodes: 1, dispatchers: 1 });
    try {
      const [node] = world.nodes;
      await world.startDispatcher();
      const coordinator = world.alive[1];
      if (node === undefined || coordinator === undefined)
        throw new Error('the run has no node or no dispatcher');
      await world.post(['standard'], coordinator);
      await world.settled();
      coordinator.mortal.die();
      const [offer] = node.offers.values();
      if (offer !== undefined) node.answer(offer, accepts ? 'accept' : 'decline');
      await world.settled();
      for (const step of steps.slice(1)) {
        take(node, step);
        await world.settled();
      }
      expect(await passVerdict(world, { isHealed: true })).toEqual([]);
      expect(await endOf(world)).toBe(ends);
    } finally {
      await world.close();
    }
  });
});

describe('a cancel is committed and its message is lost', () => {
  test.each([
    ['the node that asks to begin is ordered to stop', 'start', 0],
    ['the node that reports is ordered to stop', 'usage', 1],
  ] as const)('%s', async (_name, frame, executed) => {
    const world = await World.open(rig, { nodes: 1, dispatchers: 1 });
    try {
      const [node] = world.nodes;
      const [dispatcher] = world.alive;
      if (node === undefined || dispatcher === undefined)
        throw new Error('the run has no node or no dispatcher');
      await world.post(['standard'], dispatcher);
      await world.settled();
      for (const step of steps.slice(0, 1 + executed)) {
        take(node, step);
        await world.settled();
      }
      const [submissionId = ''] = world.submissions;
      await world.cancel(submissionId, { isAnnounced: false });
      node.send(
        frame === 'start'
          ? { type: frame, submissionId }
          : { type: frame, submissionId, usage: {} },
      );
      await world.settled();
      expect([...node.stopping]).toEqual([submissionId]);
      expect(world.auditor.of(submissionId).actedBy).toHaveLength(executed);
      expect(await passVerdict(world, { isHealed: true })).toEqual([]);
      expect(await endOf(world)).toBe('cancelled');
    } finally {
      await world.close();
    }
  });
});
