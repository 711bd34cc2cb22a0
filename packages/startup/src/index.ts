export * from './opening.ts';
export * from './tracing.ts';
export * from './worker.ts';
