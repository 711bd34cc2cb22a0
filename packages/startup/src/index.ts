export { hasMasterKeys } from './master-keys.ts';
export * from './opening.ts';
export { createJobDurations, exposeConsumer } from './process-metrics.ts';
export * from './tracing.ts';
export * from './worker.ts';
