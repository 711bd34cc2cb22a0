import { describe, expect, test } from 'vitest';
import {
  acceptedPart,
  randomOf,
  simulateFleet,
  type SimulatedFleet,
  type SimulatedTenant,
} from './contention.fixture.ts';
import { askForSlot, contendersMax, waterLevel, type Contention } from './fair-share.ts';

const fleet = { usable: 90, runMs: 2_000, forMs: 60_000, seed: 7, isFair: true };
const flood: SimulatedTenant = { id: 'flood', perSecond: 200 };

function simulate(tenants: readonly SimulatedTenant[], fields: Partial<SimulatedFleet> = {}) {
  return simulateFleet({ ...fleet, ...fields, tenants });
}

const grantsOf = (asks: ReturnType<typeof simulate>, id: string, fromMs = 20_000): number =>
  asks.filter((a) => a.tenantId === id && a.atMs >= fromMs && a.decision === 'granted').length;

describe('while slots are short', () => {
  test.each([
    { usable: 90, runMs: 2_000, perSecond: 4 },
    { usable: 18, runMs: 2_000, perSecond: 1 },
    { usable: 9, runMs: 1_000, perSecond: 0.8 },
    { usable: 300, runMs: 20_000, perSecond: 1 },
  ])('a flood 50 times as fast costs a tenant a tenth at most: %o', ({ perSecond, ...fields }) => {
    const slow = { id: 'slow', perSecond };
    const fast = { id: 'flood', perSecond: 50 * perSecond };
    const alone = acceptedPart(simulate([slow], fields), 'slow');
    const shared = acceptedPart(simulate([slow, fast], fields), 'slow');
    const before = acceptedPart(simulate([slow, fast], { ...fields, isFair: false }), 'slow');
    expect(shared / alone).toBeGreaterThanOrEqual(0.9);
    // Without fair shares (`isFair: false`), the check above would fail.
    expect(before / alone).toBeLessThan(0.6);
  });

  test('each of several tenants gets nine tenths of its max-min share', () => {
    const rates = { a: 2, b: 5, c: 60, d: 200 };
    const tenants = Object.entries(rates).map(([id, perSecond]) => ({ id, perSecond }));
    const asks = simulate(tenants);
    const all = Object.keys(rates).reduce((sum, id) => sum + grantsOf(asks, id), 0);
    const level = waterLevel(Object.values(rates), all / 40);
    for (const [id, rate] of Object.entries(rates)) {
      expect(grantsOf(asks, id) / 40 / Math.min(rate, level)).toBeGreaterThanOrEqual(0.85);
    }
  });

  test('a tenant that asks in bursts gets most of each burst', () => {
    const bursts = { id: 'bursts', perSecond: 1, burst: 10 };
    const tenants = [bursts, { ...flood, perSecond: 80 }];
    const long = { forMs: 200_000 };
    expect(acceptedPart(simulate(tenants, long), 'bursts')).toBeGreaterThanOrEqual(0.7);
    const unfair = simulate(tenants, { ...long, isFair: false });
    expect(acceptedPart(unfair, 'bursts')).toBeLessThan(0.6);
  });

  test('a newcomer gets half of the slots that are freed', () => {
    const newcomer = { ...flood, id: 'newcomer', fromMs: 30_000 };
    const asks = simulate([flood, newcomer]);
    const granted = grantsOf(asks, 'newcomer', 35_000);
    expect(granted / grantsOf(asks, 'flood', 35_000)).toBeGreaterThan(0.8);
  });

  test.each([0.25, 1])(
    'a tenant gets turns at a single slot next to a flood: %s/s',
    (perSecond) => {
      const slow = { id: 'slow', perSecond };
      const one = { usable: 1, forMs: 600_000 };
      const asks = simulate([slow, { ...flood, perSecond: 50 * perSecond }], one);
      const alone = grantsOf(simulate([slow], one), 'slow');
      expect(grantsOf(asks, 'slow') / alone).toBeGreaterThan(0.3);
      expect(grantsOf(asks, 'flood')).toBeGreaterThan(100);
    },
  );

  test('no tenant starves: each of 20 floods and 20 slow tenants gets slots', () => {
    const tenants = Array.from({ length: 40 }, (_, i) => ({
      id: `t${i}`,
      perSecond: i < 20 ? 20 : 0.4,
    }));
    const asks = simulate(tenants, { forMs: 40_000 });
    for (const { id } of tenants) expect(grantsOf(asks, id, 0)).toBeGreaterThan(3);
  });
});

describe('no slot is wasted', () => {
  test('a lone tenant gets every slot', () => {
    const first = simulate([flood], { isFair: false, forMs: 20_000 });
    expect(simulate([flood], { forMs: 20_000 })).toEqual(first);
  });

  test('when the other tenant has gone, the flood gets every slot', () => {
    const slow = { id: 'slow', perSecond: 5, untilMs: 10_000 };
    const later = simulate([flood, slow]).filter(({ atMs }) => atMs > 30_000);
    expect(later.filter(({ decision }) => decision === 'kept_free')).toEqual([]);
  });

  test('the flood keeps nine tenths of the slots next to a slow tenant', () => {
    const slow = { id: 'slow', perSecond: 4 };
    const shared = simulate([flood, slow]).filter(({ decision }) => decision === 'granted').length;
    const first = simulate([flood, slow], { isFair: false });
    const most = first.filter(({ decision }) => decision === 'granted').length;
    expect(shared / most).toBeGreaterThan(0.9);
  });

  test('while half of the slots are free, nothing is remembered', () => {
    const ask = { tenantId: 'a', usable: 10, nowMs: 0 };
    const granted = { decision: 'granted', contention: undefined };
    expect(askForSlot(undefined, { ...ask, free: 6 })).toEqual(granted);
    expect(askForSlot(undefined, { ...ask, free: 1 })).toEqual(granted);
    expect(askForSlot(undefined, { ...ask, free: 0 })).toMatchObject({ decision: 'no_slot' });
  });
});

test('a free slot is never refused to all tenants', () => {
  const asks = simulate([flood, { ...flood, id: 'other' }], { usable: 2 });
  expect(asks.filter(({ decision }) => decision === 'granted').length).toBeGreaterThan(45);
});

test('a contention remembers a bounded number of tenants', () => {
  let contention: Contention | undefined;
  const random = randomOf(3);
  for (let nowMs = 0; nowMs < 300; nowMs += 1) {
    const tenantId = `t${Math.floor(random() * 500)}`;
    ({ contention } = askForSlot(contention, { tenantId, usable: 9, free: 0, nowMs }));
    expect(Object.keys(contention?.tenants ?? {}).length).toBeLessThanOrEqual(contendersMax + 1);
  }
});

test('the water level gives small demands all they ask for', () => {
  expect(waterLevel([1, 2, 50], 13)).toBe(10);
  expect(waterLevel([8, 8], 10)).toBe(5);
  expect(waterLevel([1, 2], 10)).toBe(10);
  expect(waterLevel([], 10)).toBe(10);
});
