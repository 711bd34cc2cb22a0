import type { Shape } from './measure.ts';
import { options } from './options.ts';

const { tenants } = options;

export const created64: Shape = {
  name: 'created, 64 in flight',
  inFlight: 64,
  tenants,
  until: 'created',
};
export const created1: Shape = { ...created64, name: 'created, 1 in flight', inFlight: 1 };
export const life64: Shape = { ...created64, name: 'whole life, 64 in flight', until: 'notified' };

/** The shapes that are compared with the baseline. */
export const shapes: readonly Shape[] = [
  created64,
  { ...created64, name: 'created, 64 in flight, one tenant', tenants: 1 },
  { ...created64, name: 'created, 16 in flight', inFlight: 16 },
  created1,
  life64,
];
