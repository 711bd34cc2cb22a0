export * from './opening.ts';
export * from './worker.ts';
