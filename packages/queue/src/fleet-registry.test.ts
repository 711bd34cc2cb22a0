import { hasHeadroom, tiers } from '@svc/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  createFleetRegistry,
  dispatcherSilentMs,
  fleetRebuildingMs,
  readFleetLinks,
  silentNodeMs,
  type FleetNode,
  type FleetRegistry,
  type ReserveInput,
} from './index.ts';
import { useRedis } from './queue-harness.fixture.ts';

const { redis } = await useRedis();
let fleet: FleetRegistry;
let nowMs = 1_795_000_000_000;

beforeEach(async () => {
  await redis.flushall();
  fleet = createFleetRegistry({ redis, prefix: 'test', nowMs: () => nowMs });
  await fleet.refresh('d1');
  nowMs += fleetRebuildingMs;
});

function node(nodeId: string, fields: Partial<FleetNode> = {}): FleetNode {
  return {
    nodeId,
    dispatcherId: 'd1',
    linkId: `${nodeId}-link`,
    epoch: 0,
    linkEpoch: 0,
    jobTypes: ['ats.application'],
    slots: 1,
    draining: false,
    submissionIds: [],
    ...fields,
  };
}

function wanted(submissionId: string, fields: Partial<ReserveInput> = {}): ReserveInput {
  return {
    dispatcherId: 'd1',
    jobType: 'ats.application',
    tier: 'instant',
    excludeNodeIds: [],
    submissionId,
    ttlMs: 3_000,
    ...fields,
  };
}

describe('reserving', () => {
  test('takes the node with the most free slots, and names the dispatcher of its link', async () => {
    await fleet.join(node('n1', { slots: 2 }));
    await fleet.join(node('n2', { slots: 3, linkId: 'L' }));
    expect(await fleet.reserve(wanted('s1'))).toEqual({
      kind: 'reserved',
      nodeId: 'n2',
      dispatcherId: 'd1',
      linkId: 'L',
    });
    await fleet.reserve(wanted('s2'));
    expect(await fleet.capacity('ats.application')).toEqual({ slots: 5, free: 3 });
  });

  test('takes a node of the asking dispatcher if it is within a thirty-second of the freest', async () => {
    await fleet.refresh('d2');
    await fleet.join(node('n1', { slots: 62 }));
    await fleet.join(node('n2', { slots: 64, dispatcherId: 'd2' }));
    const chosen: unknown[] = [];
    for (const submissionId of ['s1', 's2', 's3', 's4']) {
      chosen.push(await fleet.reserve(wanted(submissionId)));
    }
    // The free slots of n1 (the own node) and n2 before each call: first 62 and 64, then 61 and 64,
    // then 61 and 63, then 61 and 62.
    const nodeIds = ['n1', 'n2', 'n2', 'n1'];
    expect(chosen).toMatchObject(nodeIds.map((nodeId) => ({ nodeId })));
  });

  test('takes the freest node if its own is excluded, silent or full', async () => {
    await fleet.refresh('d2');
    await fleet.join(node('n1', { slots: 1 }));
    await fleet.join(node('n2', { slots: 1 }));
    await fleet.join(node('n3', { slots: 1, dispatcherId: 'd2' }));
    await fleet.release('n2', 's0', { silent: true });
    const asked = { excludeNodeIds: ['n1'] };
    expect(await fleet.reserve(wanted('s1', asked))).toMatchObject({ nodeId: 'n3' });
    expect(await fleet.reserve(wanted('s2', asked))).toMatchObject({ nodeId: 'n2' });
    await fleet.release('n3', 's1');
    await fleet.reserve(wanted('s3'));
    expect(await fleet.reserve(wanted('s4'))).toMatchObject({ nodeId: 'n3' });
  });

  test('finds a node of the asking dispatcher among hundreds that are equally free', async () => {
    await fleet.refresh('d2');
    const others = Array.from({ length: 300 }, (_, i) => node(`z${i}`, { dispatcherId: 'd2' }));
    await Promise.all([...others, node('n1')].map((one) => fleet.join(one)));
    expect(await fleet.reserve(wanted('s1'))).toMatchObject({ nodeId: 'n1' });
  });

  test.each([10, 300])('reads one of %i nodes per reservation', async (nodes) => {
    for (let index = 0; index < nodes; index += 1) {
      await fleet.join(node(`n${index}`, { slots: 4 }));
    }
    await redis.config('RESETSTAT');
    const before = await callsOf('hget');
    await fleet.reserve(wanted('s1'));
    expect((await callsOf('hget')) - before).toBe(1);
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => fleet.reserve(wanted(`more-${index}`))),
    );
    expect((await callsOf('hget')) - before).toBeLessThanOrEqual(21);
    // One page of nodes for each call of the script, not for each reservation.
    expect(await callsOf('zrevrangebyscore')).toBeLessThan(10);
  });

  test('takes no excluded node and no node of another job type', async () => {
    await fleet.join(node('n1', { slots: 5 }));
    await fleet.join(node('n2'));
    await fleet.join(node('n3', { slots: 9, jobTypes: ['other'] }));
    expect(await fleet.reserve(wanted('s1', { excludeNodeIds: ['n1'] }))).toMatchObject({
      nodeId: 'n2',
    });
    expect(await fleet.reserve(wanted('s2', { excludeNodeIds: ['n1', 'n2'] }))).toEqual({
      kind: 'none_left',
    });
  });

  test('never gives one slot twice to concurrent callers', async () => {
    await fleet.join(node('n1', { slots: 3 }));
    await fleet.join(node('n2', { slots: 4 }));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => fleet.reserve(wanted(`s${i}`))),
    );
    expect(answers.filter(({ kind }) => kind === 'reserved')).toHaveLength(7);
    expect(answers.filter(({ kind }) => kind === 'no_headroom')).toHaveLength(13);
  });

  test.each([1, 9, 10, 11, 33, 34, 100, 101])(
    'leaves %i slots exactly the headroom that the domain asks for',
    async (slots) => {
      for (const tier of tiers) {
        await redis.flushall();
        await fleet.refresh('d1');
        nowMs += fleetRebuildingMs;
        await fleet.join(node('n1', { slots }));
        let free = slots;
        while (hasHeadroom(tier, slots, free)) {
          expect((await fleet.reserve(wanted(`s${free}`, { tier }))).kind).toBe('reserved');
          free -= 1;
        }
        expect((await fleet.reserve(wanted('s', { tier }))).kind).toBe('no_headroom');
      }
    },
  );

  test('does not count the slots of draining nodes', async () => {
    await fleet.join(node('n1', { slots: 50, draining: true }));
    await fleet.join(node('n2'));
    expect(await fleet.capacity('ats.application')).toEqual({ slots: 1, free: 1 });
    expect(await fleet.reserve(wanted('s1', { tier: 'standard' }))).toMatchObject({ nodeId: 'n2' });
  });

  test('a reservation expires if it is not confirmed', async () => {
    await fleet.join(node('n1'));
    await fleet.reserve(wanted('s1', { ttlMs: 3_000 }));
    nowMs += 2_999;
    expect((await fleet.reserve(wanted('s2'))).kind).toBe('no_headroom');
    nowMs += 1;
    expect((await fleet.reserve(wanted('s2'))).kind).toBe('reserved');
    nowMs += 3_000;
    await fleet.refresh('d1');
    expect(await fleet.capacity('ats.application')).toEqual({ slots: 1, free: 1 });
  });

  test('a confirmed reservation stays until it is released', async () => {
    await fleet.join(node('n1'));
    await fleet.reserve(wanted('s1'));
    await fleet.confirm('n1', 's1');
    await fleet.confirm('n1', 's1');
    for (let i = 0; i < 6; i += 1) {
      nowMs += 10_000;
      await fleet.refresh('d1');
    }
    expect((await fleet.reserve(wanted('s2'))).kind).toBe('no_headroom');
    await fleet.release('n1', 's1');
    await fleet.release('n1', 's1');
    expect(await fleet.capacity('ats.application')).toEqual({ slots: 1, free: 1 });
    expect(await redis.exists('{test}:fleet:silent')).toBe(0);
  });
});

describe('a node that left an offer unanswered', () => {
  test('is taken after all others for a while, and its slots still count', async () => {
    await fleet.join(node('silent', { slots: 1_000 }));
    await fleet.join(node('n2', { slots: 2 }));
    await fleet.reserve(wanted('s1'));
    await fleet.release('silent', 's1', { silent: true });
    expect(await fleet.capacity('ats.application')).toEqual({ slots: 1_002, free: 1_002 });
    for (const nodeId of ['n2', 'n2', 'silent']) {
      expect(await fleet.reserve(wanted(`s-${nodeId}-${nowMs}`))).toMatchObject({ nodeId });
      nowMs += 1;
    }
    expect(await fleet.capacity()).toEqual({ slots: 1_002, free: 999 });
  });

  test('is taken normally again after that time, after it accepts an offer, and on a new link', async () => {
    const forgiving: (() => Promise<unknown>)[] = [
      async () => (nowMs += silentNodeMs),
      () => fleet.confirm('silent', 's2'),
      () => fleet.join(node('silent', { slots: 9, linkId: 'new' })),
    ];
    for (const forgive of forgiving) {
      await redis.flushall();
      await fleet.refresh('d1');
      await fleet.join(node('silent', { slots: 9 }));
      await fleet.join(node('n2', { slots: 1 }));
      await fleet.reserve(wanted('s2'));
      await fleet.release('silent', 's1', { silent: true });
      await forgive();
      await fleet.refresh('d1');
      expect(await fleet.reserve(wanted('s3'))).toMatchObject({ nodeId: 'silent' });
    }
  });
});

test('a node of several job types counts once in the total of slots', async () => {
  await fleet.join(node('n1', { slots: 3, jobTypes: ['ats.application', 'other'] }));
  await fleet.join(node('n2', { slots: 2, jobTypes: ['other'] }));
  await fleet.join(node('n3', { slots: 8, jobTypes: [] }));
  await fleet.reserve(wanted('s1'));
  expect(await fleet.capacity()).toEqual({ slots: 5, free: 4 });
  await fleet.leave('n1', 'n1-link');
  expect(await fleet.capacity()).toEqual({ slots: 2, free: 2 });
});

test('the links of nodes can be listed with their free slots', async () => {
  await fleet.join(node('n1', { slots: 3 }));
  await fleet.join(node('n2', { jobTypes: [], draining: true }));
  await fleet.reserve(wanted('s1'));
  await fleet.join(node('n4', { submissionIds: ['a'] }));
  const links = await readFleetLinks(redis, 'test', ['n1', 'n2', 'n3', 'n4']);
  expect(links.get('n4')).toMatchObject({ slots: 1, free: 0 });
  const n1 = { dispatcherId: 'd1', jobTypes: ['ats.application'], slots: 3, free: 2 };
  expect(links.get('n1')).toEqual({ ...n1, draining: false });
  expect(links.get('n2')).toMatchObject({ jobTypes: [], draining: true });
  expect(links.has('n3')).toBe(false);
  expect(await readFleetLinks(redis, 'test', [])).toEqual(new Map());
});

describe('links', () => {
  test('a newer link replaces the older one, whose leaving then changes nothing', async () => {
    const older = await fleet.join(node('n1', { linkId: 'old' }));
    const newer = await fleet.join(node('n1', { linkId: 'new', slots: 2, dispatcherId: 'd2' }));
    await fleet.refresh('d2');
    expect(newer.kind === 'joined' && older.kind === 'joined' && newer.epoch > older.epoch).toBe(
      true,
    );
    await fleet.leave('n1', 'old');
    expect(await fleet.capacity('ats.application')).toEqual({ slots: 2, free: 2 });
    expect(await fleet.reserve(wanted('s1'))).toMatchObject({ dispatcherId: 'd2', linkId: 'new' });
    await fleet.leave('n1', 'new');
    expect(await fleet.capacity('ats.application')).toEqual({ slots: 0, free: 0 });
  });

  test('the number of a link decides which is newer, in any order of entry', async () => {
    const newer = await fleet.join(node('n1', { linkId: 'new', linkEpoch: 6 }));
    const older = node('n1', { linkId: 'old', linkEpoch: 5 });
    expect(await fleet.join(older)).toEqual({ kind: 'superseded' });
    await redis.flushall();
    await fleet.refresh('d1');
    const again = await fleet.join({ ...older, epoch: 1 });
    if (newer.kind !== 'joined' || again.kind !== 'joined') throw new Error('not joined');
    const { epoch } = newer;
    expect((await fleet.join(node('n1', { linkId: 'new', linkEpoch: 6, epoch }))).kind).toBe(
      'joined',
    );
    expect(await fleet.join({ ...older, epoch: again.epoch })).toEqual({ kind: 'superseded' });
  });

  test('a node that moved to another dispatcher is no longer an own node of the former one', async () => {
    await fleet.refresh('d2');
    await fleet.join(node('n1', { linkId: 'old' }));
    await fleet.join(node('n1', { linkId: 'new', dispatcherId: 'd2' }));
    await fleet.join(node('n2', { dispatcherId: 'd2' }));
    expect(await fleet.reserve(wanted('s1'))).toMatchObject({ nodeId: 'n2' });
  });

  test('an older link that enters again is superseded', async () => {
    const older = await fleet.join(node('n1', { linkId: 'old' }));
    const newer = await fleet.join(node('n1', { linkId: 'new' }));
    if (older.kind !== 'joined' || newer.kind !== 'joined') throw new Error('not joined');
    expect(await fleet.join(node('n1', { linkId: 'old', epoch: older.epoch }))).toEqual({
      kind: 'superseded',
    });
    expect(await fleet.join(node('n1', { linkId: 'new', epoch: newer.epoch }))).toEqual(newer);
  });

  test('entering a link again corrects its slots: those taken too long, and those missing', async () => {
    const joined = await fleet.join(node('n1', { slots: 5, submissionIds: ['a', 'b', 'c'] }));
    if (joined.kind !== 'joined') throw new Error('not joined');
    await fleet.reserve(wanted('reserved'));
    await fleet.join(node('n1', { slots: 5, epoch: joined.epoch, submissionIds: ['c', 'd'] }));
    expect(await fleet.capacity('ats.application')).toEqual({ slots: 5, free: 2 });
  });

  test('the reservations of a link that has left take no slot of the next one', async () => {
    await fleet.join(node('n1'));
    await fleet.reserve(wanted('s1'));
    await fleet.leave('n1', 'n1-link');
    expect(await redis.exists('{test}:fleet:moving')).toBe(0);
    await fleet.join(node('n1', { linkId: 'next' }));
    expect(await fleet.reserve(wanted('s2'))).toMatchObject({ nodeId: 'n1', linkId: 'next' });
  });

  test('a confirmation or release for a node without a link changes nothing', async () => {
    await fleet.confirm('n1', 's1');
    await fleet.release('n1', 's2');
    await fleet.join(node('n1'));
    expect(await fleet.capacity('ats.application')).toEqual({ slots: 1, free: 1 });
  });

  test('a node with more runs than slots does not reduce the free slots of others', async () => {
    await fleet.join(node('n1', { submissionIds: ['a', 'b', 'c'] }));
    await fleet.join(node('n2'));
    expect(await fleet.capacity('ats.application')).toEqual({ slots: 2, free: 1 });
  });
});

describe('dispatchers', () => {
  test('the nodes of a silent dispatcher are not taken, and are dropped', async () => {
    await fleet.refresh('d2');
    await fleet.join(node('n1', { slots: 5, dispatcherId: 'd2' }));
    await fleet.join(node('n2'));
    nowMs += dispatcherSilentMs;
    await fleet.refresh('d1');
    expect(await fleet.reserve(wanted('s1'))).toMatchObject({ nodeId: 'n1' });
    nowMs += 1;
    expect(await fleet.reserve(wanted('s2'))).toMatchObject({ nodeId: 'n2' });
    await fleet.refresh('d1');
    expect(await fleet.capacity('ats.application')).toEqual({ slots: 1, free: 0 });
  });

  test('a heartbeat drops the nodes of dispatchers that were silent for too long', async () => {
    await fleet.refresh('d2');
    await fleet.join(node('n1', { slots: 5, dispatcherId: 'd2' }));
    nowMs += dispatcherSilentMs;
    await fleet.refresh('d1');
    expect(await fleet.capacity()).toEqual({ slots: 5, free: 5 });
    nowMs += 1;
    await fleet.refresh('d1');
    expect(await fleet.capacity()).toEqual({ slots: 0, free: 0 });
    expect(await redis.zrange('{test}:fleet:dispatchers', '0', '-1')).toEqual(['d1']);
  });

  test('the nodes of a suspected dispatcher are not taken, and its next refresh returns unknown', async () => {
    await fleet.refresh('d2');
    await fleet.join(node('n1', { slots: 5, dispatcherId: 'd2' }));
    await fleet.join(node('n2'));
    await fleet.suspect('d2');
    await fleet.suspect('unheard of');
    expect(await fleet.reserve(wanted('s1'))).toMatchObject({ nodeId: 'n2' });
    expect(await fleet.refresh('d2')).toBe('unknown');
    expect(await fleet.refresh('unheard of')).toBe('unknown');
    await redis.set('{test}:fleet:dispatchers', 'a value of the wrong type');
    await expect(fleet.suspect('d2')).rejects.toThrow('WRONGTYPE');
  });

  test('a dispatcher that was silent for too long must enter its nodes again', async () => {
    expect(await fleet.refresh('d1')).toBe('known');
    nowMs += dispatcherSilentMs;
    expect(await fleet.refresh('d1')).toBe('known');
    nowMs += dispatcherSilentMs + 1;
    expect(await fleet.refresh('d1')).toBe('unknown');
    expect(await fleet.refresh('d1')).toBe('known');
  });

  test('while a node moves to another dispatcher, a search that finds no slot shall be repeated', async () => {
    const moves = { movesWithinMs: 5_000 };
    await fleet.join(node('n1'));
    await fleet.leave('n1', 'another link', moves);
    await fleet.join(node('n2', { draining: true }));
    await fleet.leave('n2', 'n2-link', moves);
    expect((await fleet.reserve(wanted('s1'))).kind).toBe('reserved');
    expect(await fleet.reserve(wanted('s2'))).toEqual({ kind: 'no_headroom' });

    await fleet.leave('n1', 'n1-link', moves);
    expect(await fleet.reserve(wanted('s2'))).toEqual({ kind: 'rebuilding' });
    await fleet.join(node('n1', { linkId: 'new' }));
    expect((await fleet.reserve(wanted('s2'))).kind).toBe('reserved');
    expect(await fleet.reserve(wanted('s3'))).toEqual({ kind: 'no_headroom' });

    await fleet.leave('n1', 'new', moves);
    nowMs += moves.movesWithinMs;
    expect(await fleet.reserve(wanted('s3'))).toEqual({ kind: 'no_headroom' });
    await fleet.refresh('d1');
    expect(await redis.zcard('{test}:fleet:moving')).toBe(0);
  });

  test('a dispatcher has others while they are not silent for too long', async () => {
    expect(await fleet.hasOthers('d1')).toBe(false);
    expect(await fleet.hasOthers('unheard of')).toBe(true);
    await fleet.refresh('d2');
    expect(await fleet.hasOthers('d1')).toBe(true);
    await redis.zrem('{test}:fleet:dispatchers', 'd2');
    await fleet.refresh('d1');
    nowMs += dispatcherSilentMs;
    expect(await fleet.hasOthers('d1')).toBe(false);
    await fleet.refresh('d2');
    nowMs += dispatcherSilentMs + 1;
    await fleet.refresh('d1');
    expect(await fleet.hasOthers('d1')).toBe(false);
  });

  test('a reservation or refresh detects a lost registry, and entering the links rebuilds it', async () => {
    await fleet.join(node('n1'));
    await redis.flushall();
    expect(await fleet.reserve(wanted('s1'))).toEqual({ kind: 'lost' });
    expect(await fleet.refresh('d1')).toBe('unknown');
    expect(await fleet.reserve(wanted('s1'))).toEqual({ kind: 'rebuilding' });
    await fleet.join(node('n1', { epoch: 7 }));
    expect((await fleet.reserve(wanted('s1'))).kind).toBe('reserved');
    nowMs += fleetRebuildingMs;
    expect(await fleet.reserve(wanted('s2'))).toEqual({ kind: 'no_headroom' });
  });
});

async function callsOf(command: string): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

function canTake(nodeId: string, jobType: string): boolean {
  return jobType === 'other' || Number(nodeId.slice(1)) % 3 === 0;
}

describe('concurrent steps', () => {
  test('share one call, and so do those that arrive during a call', async () => {
    await fleet.join(node('n1', { slots: 50 }));
    await fleet.reserve(wanted('first'));
    const ask = (name: string) =>
      Array.from({ length: 20 }, (_, i) => fleet.reserve(wanted(`${name}${i}`)));
    const before = await callsOf('evalsha');
    const early = ask('early');
    await new Promise((resolve) => setImmediate(resolve));
    const late = [...ask('late'), fleet.confirm('n1', 'first'), fleet.release('n1', 'first')];
    await Promise.all([...early, ...late]);
    expect((await callsOf('evalsha')) - before).toBe(2);
    expect(await fleet.capacity()).toEqual({ slots: 50, free: 10 });
  });

  test('get separate answers, and a freed slot goes to a reservation of the same call', async () => {
    await fleet.join(node('n1'));
    await fleet.join(node('n2', { jobTypes: ['other'] }));
    await fleet.reserve(wanted('s1'));
    const answers = await Promise.all([
      fleet.reserve(wanted('s2')),
      fleet.reserve(wanted('s3', { jobType: 'other' })),
      fleet.reserve(wanted('s4')),
      fleet.reserve(wanted('s5', { dispatcherId: 'unheard of' })),
      fleet.release('n1', 's1'),
    ]);
    const refused = [{ kind: 'no_headroom' }, { kind: 'lost' }, undefined];
    const [first, second, ...others] = answers;
    expect([first, second]).toMatchObject([{ nodeId: 'n1' }, { nodeId: 'n2' }]);
    expect(others).toEqual(refused);
  });

  test('have the same result as consecutive ones: each takes a node with the most free slots', async () => {
    const types = ['ats.application', 'other'];
    const free = new Map<string, number>();
    for (let index = 0; index < 60; index += 1) {
      const slots = 1 + (index % 7);
      free.set(`n${index}`, slots);
      await fleet.join(node(`n${index}`, { slots, jobTypes: index % 3 === 0 ? types : ['other'] }));
    }
    const inputs = Array.from({ length: 260 }, (_, i) =>
      wanted(`s${i}`, {
        jobType: i % 5 === 0 ? 'ats.application' : 'other',
        tier: tiers[i % tiers.length] ?? 'standard',
        excludeNodeIds: i % 4 === 0 ? Array.from({ length: i % 9 }, (__, n) => `n${n * 3}`) : [],
      }),
    );
    for (let start = 0; start < inputs.length; start += 60) {
      const some = inputs.slice(start, start + 60);
      const answers = await Promise.all(some.map((input) => fleet.reserve(input)));
      for (const [index, answer] of answers.entries()) {
        const { jobType, tier, excludeNodeIds } = some[index] ?? wanted('none');
        const able = [...free].filter(([nodeId]) => canTake(nodeId, jobType));
        const slots = able.reduce((sum, [nodeId]) => sum + 1 + (Number(nodeId.slice(1)) % 7), 0);
        const freeOfAll = able.reduce((sum, [, count]) => sum + count, 0);
        const open = able.filter(([id, count]) => count > 0 && !excludeNodeIds.includes(id));
        const most = Math.max(0, ...open.map(([, count]) => count));
        const kind = !hasHeadroom(tier, slots, freeOfAll)
          ? 'no_headroom'
          : most === 0
            ? 'none_left'
            : 'reserved';
        expect(answer.kind).toBe(kind);
        if (answer.kind !== 'reserved') continue;
        expect(open.map(([nodeId]) => nodeId)).toContain(answer.nodeId);
        expect(free.get(answer.nodeId)).toBe(most);
        free.set(answer.nodeId, most - 1);
      }
      const left = [...free.values()].reduce((sum, count) => sum + count, 0);
      expect((await fleet.capacity('other')).free).toBe(left);
      expect((await fleet.capacity()).free).toBe(left);
    }
    expect(Math.max(...free.values())).toBeLessThan(2);
  });

  test('never take a slot that the same call took, though other nodes are free', async () => {
    await fleet.join(node('n1'));
    await fleet.join(node('n2', { slots: 5 }));
    const ask = (name: string) => fleet.reserve(wanted(name, { excludeNodeIds: ['n2'] }));
    const answers = await Promise.all([ask('s1'), ask('s2')]);
    expect(answers.map(({ kind }) => kind)).toEqual(['reserved', 'none_left']);
  });

  test('keep their order for one slot', async () => {
    await fleet.join(node('n1'));
    await fleet.reserve(wanted('s1'));
    await Promise.all([fleet.confirm('n1', 's1'), fleet.release('n1', 's1')]);
    expect(await fleet.capacity()).toEqual({ slots: 1, free: 1 });
    await Promise.all([fleet.release('n1', 's1'), fleet.confirm('n1', 's1')]);
    expect(await fleet.capacity()).toEqual({ slots: 1, free: 0 });
  });

  test('fail together if the call fails, and later steps use a new call', async () => {
    await fleet.join(node('n1'));
    await redis.set('{test}:fleet:tokens:n1', 'a value of the wrong type');
    const asked = [
      fleet.release('n1', 's1'),
      fleet.confirm('n1', 's1'),
      fleet.reserve(wanted('s2')),
    ];
    const kinds = (await Promise.allSettled(asked)).map(({ status }) => status);
    expect(kinds).toEqual(['rejected', 'rejected', 'rejected']);
    await redis.del('{test}:fleet:tokens:n1');
    expect((await fleet.reserve(wanted('s3'))).kind).toBe('reserved');
  });
});

test('all keys are in one slot of a cluster', async () => {
  await fleet.join(node('n1'));
  await fleet.reserve(wanted('s1'));
  for (const key of await redis.keys('*')) expect(key).toMatch(/^\{test\}:fleet:/);
});
