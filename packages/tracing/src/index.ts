export { openTracing } from './open-tracing.ts';
export { ratioOf } from './sampling.ts';
export type { StepRef } from './steps.ts';
export { traced } from './traced.ts';
export { noTracing, type RequestTrace, type Tracing } from './tracing.ts';
