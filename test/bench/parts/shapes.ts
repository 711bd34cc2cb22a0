import type { Driver } from '../load/children.ts';
import { measure } from '../measure.ts';
import { medianOf } from '../report/medians.ts';
import type { Sample, Shape } from '../sample.ts';
import type { System } from '../systems/system.ts';

/**
 * One comparison of all systems. `shapes` are their loads, in the order of the systems. Either all
 * loads are equal, or the rate of each depends on the capacity of its system.
 */
export interface Comparison {
  readonly name: string;
  readonly shapes: readonly Shape[];
}

export interface ShapeResult {
  readonly name: string;
  readonly medians: readonly Sample[];
  readonly samples: readonly (readonly Sample[])[];
}

export interface Rounds {
  readonly rounds: number;
  readonly seconds: number;
}

const warmUpSeconds = 1;

export function compared(shapes: readonly Shape[], systems: readonly System[]): Comparison[] {
  return shapes.map((shape) => ({ name: shape.name, shapes: systems.map(() => shape) }));
}

/**
 * Measures each comparison in `rounds` rounds, after a warm-up round that does not count. `medians`
 * and `samples` have the order of `systems`.
 */
export async function measureShapes(
  driver: Driver,
  systems: readonly System[],
  comparisons: readonly Comparison[],
  { rounds, seconds }: Rounds,
): Promise<ShapeResult[]> {
  const taken = comparisons.map((one) => ({ ...one, samples: systems.map((): Sample[] => []) }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { shapes, samples } of taken) {
      for (const index of inTurn(systems.length, round)) {
        const system = systems[index];
        const shape = shapes[index];
        if (system === undefined || shape === undefined) continue;
        const sample = await measure(driver, system, shape, round === 0 ? warmUpSeconds : seconds);
        if (round > 0) samples[index]?.push(sample);
      }
    }
  }
  return taken.map(({ name, samples }) => ({ name, medians: samples.map(medianOf), samples }));
}

export function inTurn(count: number, round: number): number[] {
  const indices = Array.from({ length: count }, (_, index) => index);
  return round % 2 === 0 ? indices : indices.toReversed();
}
