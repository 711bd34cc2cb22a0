import type { Driver } from '../load/children.ts';
import { measure, type Sample, type Shape } from '../measure.ts';
import { medianOf } from '../report/medians.ts';
import type { System } from '../systems/system.ts';

/** The results of two systems for one shape: the medians of their rounds, and each round. */
export interface ShapeResult {
  readonly name: string;
  readonly medians: readonly Sample[];
  readonly samples: readonly (readonly Sample[])[];
}

interface Rounds {
  readonly rounds: number;
  readonly seconds: number;
}

const warmUpSeconds = 1;

/**
 * Runs every shape against every system, in turns. The first round warms up. Results keep the order
 * of the systems.
 */
export async function measureShapes(
  driver: Driver,
  systems: readonly System[],
  shapes: readonly Shape[],
  { rounds, seconds }: Rounds,
): Promise<ShapeResult[]> {
  const taken = shapes.map((shape) => ({ shape, samples: systems.map((): Sample[] => []) }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { shape, samples } of taken) {
      for (const index of inTurn(systems.length, round)) {
        const system = systems[index];
        if (system === undefined) continue;
        const sample = await measure(driver, system, shape, round === 0 ? warmUpSeconds : seconds);
        if (round > 0) samples[index]?.push(sample);
      }
    }
  }
  return taken.map(({ shape: { name }, samples }) => ({
    name,
    medians: samples.map(medianOf),
    samples,
  }));
}

/** The first system of a round is the last of the next. */
export function inTurn(count: number, round: number): number[] {
  const indices = Array.from({ length: count }, (_, index) => index);
  return round % 2 === 0 ? indices : indices.toReversed();
}
