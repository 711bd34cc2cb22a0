import type { CancelLatencies } from '../parts/cancels.ts';
import type { DeadNodes } from '../parts/dead-nodes.ts';
import { rateName } from '../parts/open-loop.ts';
import type { Rows } from '../parts/rows.ts';
import type { ShapeResult } from '../parts/shapes.ts';
import { median, quantile } from '../quantile.ts';
import type { Sample } from '../sample.ts';
import { created1, created64, hotTenant, life64 } from '../shapes.ts';
import { type GoalFigures, goalNames, isGoalRate, openLoopGoal } from './goals.ts';
import { latencyRatiosOf, ratiosOf } from './medians.ts';

const names = goalNames;
const rateOf = (sample: Sample): number => sample.perSecond;
const cpuOf = (sample: Sample): number => sample.totalCpuMicros;

type Samples = ShapeResult['samples'];

function samplesOf(results: readonly ShapeResult[], name: string): Samples {
  return results.find((result) => result.name === name)?.samples ?? [];
}

/** Each result has the samples of two systems: first the product, then the baseline. */
export function shapeFigures(results: readonly ShapeResult[]): GoalFigures {
  const created = samplesOf(results, created64.name);
  const life = samplesOf(results, life64.name);
  return new Map([
    [names.oneP50, ratiosOf(samplesOf(results, created1.name), ({ answered }) => answered.p50Ms)],
    [names.createdRate, ratiosOf(created, rateOf)],
    [names.createdCpu, ratiosOf(created, cpuOf)],
    [names.hotTenantRate, ratiosOf(samplesOf(results, hotTenant.name), rateOf)],
    [names.lifeRate, ratiosOf(life, rateOf)],
    [names.lifeCpu, ratiosOf(life, cpuOf)],
    [names.lifeWal, (life[0] ?? []).map(({ walBytes }) => walBytes / 1_000)],
  ]);
}

export function openLoopFigures(
  results: readonly ShapeResult[],
  rows: readonly Rows[],
): GoalFigures {
  const latencies = [...rates(results)].flatMap(([rate, samples]): [string, number[]][] => [
    [openLoopGoal(rate, '201 p50'), latencyRatiosOf(samples, ({ answered }) => answered.p50Ms)],
    [openLoopGoal(rate, '201 p99'), latencyRatiosOf(samples, ({ answered }) => answered.p99Ms)],
    [
      openLoopGoal(rate, 'webhook p50'),
      latencyRatiosOf(samples, (one) => one.notified?.p50Ms ?? NaN),
    ],
    [
      openLoopGoal(rate, 'webhook p99'),
      latencyRatiosOf(samples, (one) => one.notified?.p99Ms ?? NaN),
    ],
  ]);
  const [product] = rows;
  return new Map([
    ...latencies,
    [names.hotUpdates, product === undefined ? [] : [product.hotShare * 100]],
  ]);
}

function rates(results: readonly ShapeResult[]): Map<number, Samples> {
  const all = results.flatMap(({ name, samples }): [number, Samples][] => {
    const rate = samples[0]?.[0]?.backlog?.duePerSecond ?? 0;
    return isGoalRate(rate) && name === rateName(rate) ? [[rate, samples]] : [];
  });
  return new Map(all);
}

/** In each result, the first system has two processes of each service, and the second has one. */
export function twoOfEachFigures(results: readonly ShapeResult[]): GoalFigures {
  const created = samplesOf(results, created64.name);
  const life = samplesOf(results, life64.name);
  return new Map([
    [names.twoCreatedCpu, ratiosOf(created, cpuOf)],
    [names.twoCreatedRate, ratiosOf(created, rateOf)],
    [names.twoLifeCpu, ratiosOf(life, cpuOf)],
    [names.twoLifeRate, ratiosOf(life, rateOf)],
  ]);
}

export function halfLoadFigures(results: readonly ShapeResult[]): GoalFigures {
  const samples = results.flatMap((result) => result.samples[0] ?? []);
  return new Map([
    [names.firstWebhook, samples.flatMap(({ firstWebhook }) => firstWebhook?.p99Ms ?? [])],
  ]);
}

/**
 * The ratios of the first system, which has many rows, to the second, which has few. Each figure
 * counts only the load (`Shape`) with the greatest median ratio.
 */
export function growthFigures(results: readonly ShapeResult[]): GoalFigures {
  return new Map([
    [names.growthCpu, ofWorstShape(results, cpuOf)],
    [names.growthP50, ofWorstShape(results, ({ answered }) => answered.p50Ms)],
  ]);
}

/**
 * Returns the ratios of the shape with the greatest median ratio. The greatest ratio of each round
 * is not used: chance raises it above 1 even for equal systems.
 */
function ofWorstShape(
  results: readonly ShapeResult[],
  figure: (sample: Sample) => number,
): number[] {
  const byMedian = results
    .map(({ samples }) => ratiosOf(samples, figure))
    .toSorted((one, other) => median(other) - median(one));
  return byMedian[0] ?? [];
}

export function deadNodeFigures({ noticedAfterMs }: DeadNodes): GoalFigures {
  return new Map([[names.deadNode, [quantile(noticedAfterMs, 1) / 1_000]]]);
}

export function cancelFigures({ fromRequestMs }: CancelLatencies): GoalFigures {
  return new Map([[names.cancel, [quantile(fromRequestMs, 0.99)]]]);
}
