import type { Adapter } from './adapter.ts';
import { ashby } from './ashby.ts';
import { generic } from './generic.ts';
import { greenhouse } from './greenhouse.ts';
import { lever } from './lever.ts';
import { workable } from './workable.ts';

export type * from './adapter.ts';
export { ashby, generic, greenhouse, lever, workable };

/**
 * The adapters of the applicant tracking systems that are known by their markup. In each frame, the
 * adapter that the tenant names is tried first, then the others in this order.
 */
export const namedAdapters: readonly Adapter[] = [greenhouse, lever, ashby, workable];
