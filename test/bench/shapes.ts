import { options } from './options.ts';
import type { Shape } from './sample.ts';

const { tenants } = options;

const inFlight = (count: number): Pick<Shape, 'name' | 'pace'> => ({
  name: `created, ${count} in flight`,
  pace: { inFlight: count },
});

export const created64: Shape = { ...inFlight(64), tenants, until: 'created' };
export const created1: Shape = { ...created64, ...inFlight(1) };
export const hotTenant: Shape = {
  ...created64,
  name: 'created, 64 in flight, one tenant',
  tenants: 1,
};
export const life64: Shape = { ...created64, name: 'whole life, 64 in flight', until: 'notified' };

export const shapes: readonly Shape[] = [
  created64,
  hotTenant,
  { ...created64, ...inFlight(16) },
  created1,
  life64,
];

export function atRate(name: string, perSecond: number): Shape {
  return { name, tenants, until: 'notified', pace: { perSecond } };
}
