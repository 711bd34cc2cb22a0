export * from './credits.ts';
export * from './deliveries.ts';
export * from './dispatching.ts';
export * from './endings.ts';
export * from './environment.ts';
export * from './migrate.ts';
export * from './nodes.ts';
export * from './outcomes.ts';
export * from './overdue.ts';
export * from './purchases.ts';
export * from './rate-cards.ts';
export {
  isUnavailable,
  openStore,
  ping,
  type Sealer,
  type Store,
  type StoreOptions,
} from './store.ts';
export * from './status.ts';
export * from './submissions.ts';
export * from './tenants.ts';
