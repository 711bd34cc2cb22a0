export { verifyWebhook } from '@svc/local';
export type {
  NewTenant,
  NodeCredentials,
  ReceivedWebhook,
  ServiceName,
  TenantCredentials,
  WebhookAnswer,
  WebhookReceiver,
} from '@svc/local';

export { bundleOf, bundleProcesses } from './bundles.ts';
export * from './database-clock.ts';
export * from './database.ts';
export * from './database-gate.ts';
export { createMemoryDirectory } from './memory-directory.ts';
export * from './open-handles.ts';
export * from './redis.ts';
export * from './self-signed.ts';
export * from './signed-request.ts';
export * from './stack-types.ts';
export * from './stack.ts';
export { entryUnderTest } from './stack-processes.ts';
export * from './submission-lock.ts';
export { type Ran, runSvc, runSvcProcess, svcJson } from './svc.ts';
export * from './table-lock.ts';
export * from './test-author.ts';
export * from './template-database.ts';
export {
  bareEnvironment,
  cleanEnvironment,
  newMasterKey,
  testMasterKey,
  type TestServers,
} from './test-environment.ts';
export * from './test-servers.ts';
export * from './wait-until.ts';
export * from './webhook-receiver.ts';
export * from './link-request.ts';
export * from './scripted-node.ts';
