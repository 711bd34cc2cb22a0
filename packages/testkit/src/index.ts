export * from './database-clock.ts';
export * from './database.ts';
export * from './redis.ts';
export { testMasterKey } from './test-environment.ts';
export * from './wait-until.ts';
