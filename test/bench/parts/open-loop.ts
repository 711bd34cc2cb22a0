import type { Driver } from '../load/children.ts';
import { measure } from '../measure.ts';
import { options } from '../options.ts';
import { atRate, life64 } from '../shapes.ts';
import type { System } from '../systems/system.ts';
import {
  type Comparison,
  compared,
  measureShapes,
  type Rounds,
  type ShapeResult,
} from './shapes.ts';

/**
 * Whole lives per second with 64 in flight, for each system. A figure in `measured` is not measured
 * again.
 */
export async function capacitiesOf(
  driver: Driver,
  systems: readonly System[],
  measured: readonly ShapeResult[],
): Promise<number[]> {
  const known = measured.find(({ name }) => name === life64.name)?.medians;
  const capacities: number[] = [];
  for (const [index, system] of systems.entries()) {
    const sample = known?.[index] ?? (await measure(driver, system, life64, 2 * options.seconds));
    capacities.push(sample.perSecond);
  }
  return capacities;
}

export const rateName = (perSecond: number): string => `open loop, ${perSecond} a second`;

export async function measureOpenLoop(
  driver: Driver,
  systems: readonly System[],
  capacities: readonly number[],
  rounds: Rounds,
): Promise<ShapeResult[]> {
  const { perSecond, shareOfCapacity } = options.openLoop;
  const fixed = perSecond.map((rate) => atRate(rateName(rate), rate));
  const share = ofCapacity(`open loop, ${shareOfCapacity * 100} % of capacity`, capacities, {
    share: shareOfCapacity,
  });
  return measureShapes(driver, systems, [...compared(fixed, systems), share], rounds);
}

export function ofCapacity(
  name: string,
  capacities: readonly number[],
  { share }: { readonly share: number },
): Comparison {
  return { name, shapes: capacities.map((capacity) => atRate(name, Math.round(capacity * share))) };
}
