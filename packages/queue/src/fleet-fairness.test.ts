import {
  askForSlot,
  askingGaps,
  askingMsMax,
  askingMsMin,
  contendersMax,
  contentionMs,
  type Contention,
  shareTurnMs,
  yieldMs,
} from '@svc/domain';
import { beforeEach, expect, test } from 'vitest';
import {
  createFleetRegistry,
  fleetRebuildingMs,
  type FleetRegistry,
  type Reservation,
} from './index.ts';
import { useRedis } from './queue-harness.fixture.ts';
import { keyPrefix } from './redis.ts';

const { redis } = await useRedis();
const startMs = 1_795_000_000_000;
const contentionKey = `${keyPrefix('test')}:fleet:contention:ats.application:0`;
let fleet: FleetRegistry;
let nowMs = startMs;

async function startFleet(slots: number): Promise<void> {
  await redis.flushall();
  nowMs = startMs;
  fleet = createFleetRegistry({ redis, prefix: 'test', nowMs: () => nowMs });
  await fleet.refresh('d1');
  nowMs += fleetRebuildingMs;
  await fleet.join({
    nodeId: 'n1',
    dispatcherId: 'd1',
    linkId: 'link',
    epoch: 0,
    linkEpoch: 0,
    jobTypes: ['ats.application'],
    slots,
    draining: false,
    submissionIds: [],
  });
}

const slots = 9;
let asked = 0;

beforeEach(async () => {
  asked = 0;
  await startFleet(slots);
});

function ask(tenantId?: string, excludeNodeIds: string[] = []): Promise<Reservation> {
  asked += 1;
  return fleet.reserve({
    dispatcherId: 'd1',
    jobType: 'ats.application',
    tier: 'instant',
    excludeNodeIds,
    submissionId: `s${asked}`,
    tenantId,
    ttlMs: 3_600_000,
  });
}

const contentions = async (): Promise<string[]> =>
  (await redis.keys('*')).filter((key) => key.includes(':contention:'));

/** The later times at which a part of the contention ends. */
function endsOf(contention: Contention | undefined): number[] {
  if (contention === undefined) return [];
  const { starvedAtMs, turnAtMs, refusedAtMs, tenants } = contention;
  const asking = Object.values(tenants).map(
    ({ askedAtMs, gapMs }) =>
      askedAtMs + Math.min(Math.max(askingGaps * gapMs, askingMsMin), askingMsMax),
  );
  const ends = [starvedAtMs + yieldMs, turnAtMs + shareTurnMs, refusedAtMs + contentionMs];
  return [...ends, ...asking].map(Math.ceil).filter((ms) => ms > nowMs);
}

const readContention = async (): Promise<unknown> =>
  JSON.parse((await redis.get(contentionKey)) ?? 'null');

/** Redis keeps 14 digits of a number. */
function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, one: unknown) =>
    typeof one === 'number' ? Number(one.toPrecision(9)) : one,
  );
}

const fewRates = [0.6, 0.25, 0.1, 0.05];
const manyRates = Array.from({ length: 80 }, () => 1 / 80);

test.each([
  [slots, 'four tenants', 60, fewRates],
  [8, 'four tenants', 60, fewRates],
  [1, 'four tenants', 60, fewRates],
  [slots, 'more tenants than are remembered', 10, manyRates],
])(
  'the script decides as the domain does, with %i slots for %s',
  async (usable, _, gapMs, rates) => {
    await startFleet(usable);
    let contention: Contention | undefined;
    let before: unknown = null;
    let state = 11;
    const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    let running: { readonly id: string; readonly endMs: number }[] = [];
    const decisions = new Map<string, number>();
    let refreshedAtMs = nowMs;
    for (let count = 0; count < 500; count += 1) {
      nowMs += Math.floor(random() * gapMs);
      const ends = endsOf(contention);
      if (random() < 0.08) nowMs = ends[Math.floor(random() * ends.length)] ?? nowMs;
      if (nowMs - refreshedAtMs >= 1_000) await fleet.refresh('d1');
      if (nowMs - refreshedAtMs >= 1_000) refreshedAtMs = nowMs;
      const ended = running.filter(({ endMs }) => endMs <= nowMs);
      running = running.filter(({ endMs }) => endMs > nowMs);
      await Promise.all(ended.map(({ id }) => fleet.release('n1', id)));
      let pick = random();
      const tenant = rates.findIndex((rate) => (pick -= rate) < 0);
      const tenantId = `t${Math.max(0, tenant)}`;
      const free = usable - running.length;
      const expected = askForSlot(contention, { tenantId, usable, free, nowMs });
      ({ contention } = expected);
      const got = await ask(tenantId);
      const isGranted = expected.decision === 'granted';
      expect([count, got.kind]).toEqual([count, isGranted ? 'reserved' : 'no_headroom']);
      const kept = await readContention();
      // Without a contention, nothing is written.
      expect(rounded(kept)).toEqual(rounded(contention ?? before));
      before = kept;
      decisions.set(expected.decision, (decisions.get(expected.decision) ?? 0) + 1);
      if (isGranted) running.push({ id: `s${asked}`, endMs: nowMs + 500 + random() * 2_000 });
    }
    for (const decision of ['granted', 'no_slot', 'kept_free']) {
      expect(decisions.get(decision)).toBeGreaterThan(0);
    }
  },
);

test('a free slot is kept for a tenant below its share if a flood asks first', async () => {
  for (let count = 0; count <= slots; count += 1) await ask('flood');
  for (let round = 0; round < 3; round += 1) {
    nowMs += 100;
    await ask('flood');
    await ask('slow');
    await fleet.release('n1', `s${round + 1}`);
    expect((await ask('flood')).kind).toBe(round === 0 ? 'reserved' : 'no_headroom');
  }
  nowMs += 100;
  expect((await ask('slow')).kind).toBe('reserved');
});

test('a lone tenant gets every slot, and without a tenant every free slot is granted', async () => {
  const kinds: string[] = [];
  for (let count = 0; count < slots; count += 1) kinds.push((await ask('lone')).kind);
  expect(new Set(kinds)).toEqual(new Set(['reserved']));
  expect((await ask('lone')).kind).toBe('no_headroom');
  await fleet.release('n1', 's1');
  expect((await ask()).kind).toBe('reserved');
});

test('more tenants than are remembered may ask in one millisecond', async () => {
  let contention: Contention | undefined;
  for (let count = 0; count < slots; count += 1) await ask('flood');
  for (let count = 0; count < contendersMax + 6; count += 1) {
    const tenantId = `t${100 + count}`;
    ({ contention } = askForSlot(contention, { tenantId, usable: slots, free: 0, nowMs }));
    expect((await ask(tenantId)).kind).toBe('no_headroom');
    expect(rounded(await readContention())).toEqual(rounded(contention));
  }
  expect(Object.keys(contention?.tenants ?? {})).toHaveLength(contendersMax);
});

test('a job type without slots has no contention', async () => {
  const none = {
    dispatcherId: 'd1',
    jobType: 'none',
    tier: 'instant',
    excludeNodeIds: [],
  } as const;
  const answer = await fleet.reserve({ ...none, submissionId: 's', tenantId: 'a', ttlMs: 1 });
  expect([answer.kind, await contentions()]).toEqual(['no_headroom', []]);
});

test('nothing is written while slots are not short, and a contention expires', async () => {
  for (let count = 0; count < slots; count += 1) await ask('a');
  expect(await contentions()).toEqual([]);
  await ask('a');
  expect(await contentions()).toHaveLength(1);
  const [key = contentionKey] = await contentions();
  expect(await redis.pttl(key)).toBeGreaterThan(contentionMs - 5_000);
  expect(await redis.pttl(key)).toBeLessThanOrEqual(contentionMs);
});

test('with half of the slots free, a reservation reads nothing more than before', async () => {
  await redis.config('RESETSTAT');
  await ask('a');
  const stats = await redis.info('commandstats');
  expect(stats).not.toContain('cmdstat_get:calls=2');
  expect(await contentions()).toEqual([]);
});

test('another node for the same submission does not count as a new ask', async () => {
  for (let count = 0; count <= slots; count += 1) await ask('flood');
  const [key = contentionKey] = await contentions();
  const before = await redis.get(key);
  nowMs += 500;
  expect((await ask(undefined, ['n1'])).kind).toBe('no_headroom');
  expect(await redis.get(key)).toBe(before);
});

test('an ask counts once, even if the chosen node turns out to be lost', async () => {
  for (let count = 0; count <= slots; count += 1) await ask('flood');
  await fleet.join({
    nodeId: 'n2',
    dispatcherId: 'dead',
    linkId: 'link',
    epoch: 0,
    linkEpoch: 0,
    jobTypes: ['ats.application'],
    slots: 3,
    draining: false,
    submissionIds: [],
  });
  expect((await ask('slow')).kind).toBe('no_headroom');
  const [key = contentionKey] = await contentions();
  const kept: Contention = JSON.parse((await redis.get(key)) ?? '{}');
  expect(kept.tenants).toMatchObject({ slow: { asks: 1 } });
});
