export * from './agent.ts';
export * from './executor.ts';
export * from './history.ts';
export * from './journal.ts';
export * from './lock.ts';
export { nodeLogCatalogue, nodeLogMembers } from './log-events.ts';
