import { expect, test } from 'vitest';
import { size } from '../faults/sizes.ts';
import { createRandom } from '../simulation/random.ts';
import { layoutOf, pidOfNamespace, runName } from './layout.ts';
import { isPairName, pairs, planCuts, unreachableFor, ways } from './partitions.ts';
import { judge } from './readiness.ts';

const { hosts } = layoutOf(runName(77), size);
const names = hosts.map(({ name }) => name);
const everyPair = Object.keys(pairs).filter(isPairName);

test('each pair is cut in each way, and a seed gives the same combinations again', () => {
  const plan = { pairs: everyPair, combinations: 20 };
  const planned = planCuts(createRandom(5), names, plan);
  const single = planned.slice(0, everyPair.length * ways.length).flat();
  expect(new Set(single.map(({ pair, way }) => `${pair} ${way}`)).size).toBe(33);
  for (const cuts of planned.slice(33)) {
    const links = new Set(cuts.map(({ one, other }) => `${one} ${other}`));
    expect(links.size).toBe(cuts.length);
    expect(cuts.length).toBeGreaterThan(1);
  }
  expect(planCuts(createRandom(5), names, plan)).toEqual(planned);
});

test('a later run finds the namespaces of a run by their names', () => {
  for (const { namespace } of hosts) expect(pidOfNamespace(namespace)).toBe(77);
  expect(pidOfNamespace('svc-of-somebody')).toBeUndefined();
});

test('a store is unreachable if one direction is cut', () => {
  const cut = { pair: 'gateway-redis', one: 'gateway 1', other: 'redis', way: 'back' } as const;
  expect(unreachableFor('gateway 1', [cut])).toEqual(['redis']);
  expect(unreachableFor('gateway 0', [cut])).toEqual([]);
});

const bounds = { notReadyMsMax: 50, readyMsMax: 50 };
const said = (askedMs: number, ...missing: string[]) => ({
  service: 's',
  askedMs,
  answeredMs: askedMs + 1,
  missing,
});
const changes = [
  { service: 's', atMs: 100, unreachable: ['redis'] },
  { service: 's', atMs: 200, unreachable: [] },
];

test('true statements within the bounds are not wrong, and their delays are measured', () => {
  const statements = [said(0), said(110), said(140, 'redis', 'bus'), said(190, 'redis'), said(230)];
  expect(judge(['s'], statements, changes, bounds)).toEqual({
    statements: 5,
    wrong: [],
    notReadyMs: [41],
    readyMs: [31],
  });
});

test('a false statement after the bound is wrong', () => {
  const wrong = (...statements: ReturnType<typeof said>[]) =>
    judge(['s'], statements, changes, bounds).wrong;
  const ready = [said(0), said(110)];
  expect(wrong(...ready, said(160), said(210))).toEqual([
    's reported "missing: none"; unreachable in fact: redis',
  ]);
  expect(wrong(...ready, said(160, 'postgres'), said(210))).toHaveLength(1);
  expect(wrong(...ready, said(210))).toEqual(['s: /ready gave no correct answer in 100 ms']);
  expect(wrong(...ready, said(140, 'redis'), said(260, 'redis'))).toEqual([
    's reported "missing: redis"; unreachable in fact: none',
  ]);
  expect(judge(['s'], [], changes, bounds).wrong).toEqual([
    'a service was never asked for its readiness',
  ]);
});
