import { beforeEach, expect, test } from 'vitest';
import { createFleetRegistry, fleetRebuildingMs, type FleetRegistry } from './index.ts';
import { useRedis } from './queue-harness.fixture.ts';
import { keyPrefix } from './redis.ts';

const { redis } = await useRedis();
let fleet: FleetRegistry;
let nowMs = 1_795_000_000_000;
const key = (name: string, prefix = 'test') => `${keyPrefix(prefix)}:fleet:${name}`;

beforeEach(async () => {
  await redis.flushall();
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
    slots: 2,
    draining: false,
    submissionIds: [],
  });
});

const reserve = (submissionId: string) =>
  fleet.reserve({
    dispatcherId: 'd1',
    jobType: 'ats.application',
    tier: 'instant',
    excludeNodeIds: [],
    submissionId,
    ttlMs: 3_000,
  });

test('a released slot leaves no entry, and a link that has left none either', async () => {
  await reserve('s1');
  await reserve('s2');
  await fleet.release('n1', 's1');
  expect(await redis.zrange(key('expiring'), '0', '-1')).toEqual(['n1 s2']);
  expect(await redis.smembers(key('links:d1'))).toEqual(['n1']);
  await fleet.leave('n1', 'link');
  const keys = (await redis.keys('*')).map((name) => name.slice(key('').length));
  // The reservation expires by itself. The sums stay, with the value 0.
  expect(keys.toSorted()).toEqual(['born', 'dispatchers', 'expiring', 'totals']);
  expect(new Set(await redis.hvals(key('totals')))).toEqual(new Set(['0']));
});

test('without a time from the caller, the clock of Redis counts', async () => {
  const own = createFleetRegistry({ redis, prefix: 'own' });
  const [seconds] = await redis.time();
  await own.refresh('d1');
  const heard = Number(await redis.zscore(key('dispatchers', 'own'), 'd1'));
  expect(Math.floor(heard / 1_000) - Number(seconds)).toBeGreaterThanOrEqual(0);
  expect(Math.floor(heard / 1_000) - Number(seconds)).toBeLessThan(60);
  expect(Number(await redis.get(key('born', 'own')))).toBe(heard);
});
