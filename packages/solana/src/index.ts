export * from './addresses.ts';
export * from './call-budget.ts';
export * from './check-rail.ts';
export * from './methods.ts';
export * from './rpc.ts';
