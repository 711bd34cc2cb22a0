import type { Driver } from '../load/children.ts';
import { options } from '../options.ts';
import type { System } from '../systems/system.ts';
import { ofCapacity } from './open-loop.ts';
import { measureShapes, type ShapeResult } from './shapes.ts';

export function measureHalfLoad(
  driver: Driver,
  systems: readonly System[],
  capacities: readonly number[],
): Promise<ShapeResult[]> {
  const half = ofCapacity('whole life at half load', capacities, { share: 0.5 });
  return measureShapes(driver, systems, [half], options.halfLoad);
}
