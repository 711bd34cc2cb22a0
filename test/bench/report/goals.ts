import { median } from '../quantile.ts';
import { spread, table } from './markdown.ts';

/** A limit for one figure of a run. It applies to the median of the figure over all rounds. */
interface Goal {
  readonly name: string;
  readonly unit: string;
  readonly limit: { readonly atMost: number } | { readonly atLeast: number };
}

const atMost = (name: string, limit: number, unit = ' ×'): Goal => ({
  name,
  unit,
  limit: { atMost: limit },
});
const atLeast = (name: string, limit: number, unit = ' ×'): Goal => ({
  name,
  unit,
  limit: { atLeast: limit },
});

/** At these rates, in requests per second, the product should not be slower than the baseline. */
const goalRates = [50, 100, 200] as const;
type GoalRate = (typeof goalRates)[number];
const latencies = ['201 p50', '201 p99', 'webhook p50', 'webhook p99'] as const;
type Latency = (typeof latencies)[number];

export const openLoopGoal = (perSecond: number, latency: Latency): string =>
  `open loop, ${perSecond} a second: post → ${latency}`;
export const isGoalRate = (perSecond: number): perSecond is GoalRate =>
  goalRates.some((rate) => rate === perSecond);

export const goalNames = {
  oneP50: 'created, 1 in flight: p50',
  createdRate: 'created, 64 in flight: rate',
  createdCpu: 'created, 64 in flight: CPU',
  hotTenantRate: 'created, 64 in flight, one tenant: rate',
  lifeRate: 'whole life, 64 in flight: rate',
  lifeCpu: 'whole life, 64 in flight: CPU',
  lifeWal: 'whole life, 64 in flight: WAL',
  hotUpdates: 'whole lives: heap-only updates',
  twoCreatedCpu: 'created, two processes of each service relative to one: CPU',
  twoCreatedRate: 'created, two processes of each service relative to one: rate',
  twoLifeCpu: 'whole life, two processes of each service relative to one: CPU',
  twoLifeRate: 'whole life, two processes of each service relative to one: rate',
  firstWebhook: 'settled → first webhook at half load: p99',
  growthCpu: '`--seed-rows` submissions relative to 10,000 submissions: CPU',
  growthP50: '`--seed-rows` submissions relative to 10,000 submissions: p50',
  deadNode: 'a node falls silent → the fleet no longer counts it: slowest',
  cancel: 'cancel → node’s frame: p99',
} as const;

export const goals: readonly Goal[] = [
  ...goalRates.flatMap((rate) => latencies.map((one) => atMost(openLoopGoal(rate, one), 1))),
  atMost(goalNames.oneP50, 1.2),
  atLeast(goalNames.createdRate, 2),
  atMost(goalNames.createdCpu, 0.5),
  atLeast(goalNames.hotTenantRate, 3),
  atLeast(goalNames.lifeRate, 2.2),
  atMost(goalNames.lifeCpu, 0.45),
  atMost(goalNames.lifeWal, 4, ' KB'),
  atLeast(goalNames.hotUpdates, 90, ' %'),
  atMost(goalNames.twoCreatedCpu, 1.25),
  atLeast(goalNames.twoCreatedRate, 0.85),
  atMost(goalNames.twoLifeCpu, 1.25),
  atLeast(goalNames.twoLifeRate, 0.85),
  atMost(goalNames.firstWebhook, 100, ' ms'),
  atMost(goalNames.growthCpu, 1.1),
  atMost(goalNames.growthP50, 1.1),
  atMost(goalNames.deadNode, 15, ' s'),
  atMost(goalNames.cancel, 200, ' ms'),
];

/**
 * The figures of each measured goal, by the goal's name. A goal has one figure for each round, or
 * only one figure if it is measured once.
 */
export type GoalFigures = ReadonlyMap<string, readonly number[]>;

type Verdict = 'met' | 'missed' | 'not measured';

function verdictOf({ limit }: Goal, figures: readonly number[] | undefined): Verdict {
  if (figures === undefined || figures.length === 0) return 'not measured';
  const figure = median(figures);
  const isMet = 'atMost' in limit ? figure <= limit.atMost : figure >= limit.atLeast;
  return isMet ? 'met' : 'missed';
}

export function goalsTable(figures: GoalFigures): string {
  const isMeasured = (goal: Goal): boolean =>
    verdictOf(goal, figures.get(goal.name)) !== 'not measured';
  const rows = goals
    .filter(isMeasured)
    .map((goal) => [
      goal.name,
      'atMost' in goal.limit
        ? `≤ ${goal.limit.atMost}${goal.unit}`
        : `≥ ${goal.limit.atLeast}${goal.unit}`,
      spread(figures.get(goal.name) ?? [], goal.unit),
      verdictOf(goal, figures.get(goal.name)),
    ]);
  const measured = table(['goal', 'limit', 'median (least–greatest)', 'verdict'], rows);
  const left = goals.filter((goal) => !isMeasured(goal)).map(({ name }) => name);
  return left.length === 0 ? measured : `${measured}\n\nNot measured: ${left.join('; ')}.`;
}

export function verdictLine(figures: GoalFigures): string {
  const verdicts = goals.map((goal) => verdictOf(goal, figures.get(goal.name)));
  const count = (verdict: Verdict): number => verdicts.filter((one) => one === verdict).length;
  return `Verdict: ${count('met')} of ${goals.length} goals met, ${count('missed')} missed, ${count('not measured')} not measured.`;
}
