export type { Actor, AuditedChange, Author } from './audit-log/audit.ts';
export * from './audit-log/audit-chain.ts';
export * from './audit-log/audit-list.ts';
export * from './ledger/corrections.ts';
export { type Balance, readBalance } from './ledger/account.ts';
export {
  attemptClaimMs,
  exhaustAgedRounds,
  findAgedRounds,
  findDueEndpoints,
  findDueTargets,
} from './deliveries/deliveries.ts';
export * from './deliveries/claims.ts';
export * from './webhook-endpoints/changes.ts';
export { findEndpoint, listEndpoints, type EndpointRecord } from './webhook-endpoints/endpoints.ts';
export * from './webhook-endpoints/polled-events.ts';
export { deleteRetiredEndpoints } from './webhook-endpoints/retired.ts';
export { queueEndpointTest, type EndpointTestOutcome } from './webhook-endpoints/test-event.ts';
export * from './deliveries/list.ts';
export * from './deliveries/attempts.ts';
export * from './deliveries/recovery.ts';
export * from './assignments/assignments.ts';
export * from './assignments/begin.ts';
export * from './assignments/dispatch.ts';
export * from './endings/endings.ts';
export * from './schema/environment.ts';
export { isAnswerLost, isUnavailable } from './connection/errors.ts';
export { wrongUrl } from './connection/wrong-url.ts';
export { holdSubmission, type HoldOutcome, type NewSubmission } from './submissions/hold.ts';
export * from './submissions/operator-list.ts';
export { auditLedger, type LedgerAudit } from './ledger/ledger-audit.ts';
export type { LedgerFault, LedgerFaultKind } from './ledger/ledger-fault.ts';
export {
  type LedgerAuditRun,
  type LedgerAuditStatus,
  readLedgerAudit,
  runLedgerAudit,
  saveWholeAudit,
} from './ledger-audit/run-audit.ts';
export * from './schema/migrate.ts';
export {
  buildFacts,
  type DatabaseHealth,
  readDatabaseHealth,
  readServerClock,
} from './schema/health.ts';
export {
  type HelloFinding,
  endAfterDisable,
  endUnnamed,
  endUnsent,
} from './assignments/lost-assignments.ts';
export * from './nodes/changes.ts';
export * from './nodes/links.ts';
export {
  findChangedNodes,
  findNodeCredentials,
  findNodeSettings,
  type NodeSettings,
} from './nodes/credentials.ts';
export {
  createNode,
  findNode,
  listNodes,
  type NewNode,
  type NodeRecord,
  touchNodes,
} from './nodes/nodes.ts';
export * from './operators/operators.ts';
export * from './audit-log/audited.ts';
export { listTenantChanges, type TenantAuditEntry } from './audit-log/tenant-changes.ts';
export * from './tenants/enable.ts';
export * from './tenants/create-tenant.ts';
export * from './assignments/outcomes.ts';
export * from './reconciling/overdue.ts';
export * from './recovery/findings.ts';
export { recoveryInForce } from './recovery/in-force.ts';
export * from './recovery/recovery.ts';
export { applyReport, noteReported } from './recovery/reports.ts';
export * from './retention/retention.ts';
export * from './schema/partitions.ts';
export * from './reconciling/reconcile-failures.ts';
export {
  type CandidateCursor,
  type ReconcileCandidate,
  reconcileTogether,
} from './reconciling/reconcile-page.ts';
export { rateCardOfVersion } from './pricing/pinned-cards.ts';
export { type Grant, grantCredits, type GrantOutcome } from './ledger/grants.ts';
export {
  findExpired,
  purgeExpired,
  type PurgeOutcome,
  purgeSubmission,
} from './submissions/purge.ts';
export * from './pricing/rate-card-history.ts';
export * from './pricing/rate-cards.ts';
export { queueWebhookTest, redeliver, type RedeliveryOutcome } from './deliveries/redelivery.ts';
export * from './sealing/key-holders.ts';
export * from './sealing/reseal.ts';
export { eventPlace, payloadPlace, responsePlace } from './sealing/sealed.ts';
export { beginReseal, endReseal } from './sealing/sealing-phase.ts';
export { type ServiceFailureResult, storeServiceFailure } from './assignments/service-failures.ts';
export * from './tenants/settings.ts';
export * from './ledger/account-statement.ts';
export {
  loadTypedClient,
  openStore,
  ping,
  type PoolFigures,
  type Sealer,
  type Store,
  type StoreOptions,
} from './connection/store.ts';
export * from './operators/service-figures.ts';
export * from './operators/status.ts';
export * from './submissions/submission-list.ts';
export * from './submissions/submissions.ts';
export * from './pricing/surge-pin.ts';
export * from './tenants/keys.ts';
export { sealAllKeyLimits } from './tenants/key-limits.ts';
export { findTenantCredentials, type TenantCredentials } from './tenants/credentials.ts';
export * from './tenants/secrets.ts';
export * from './tenants/tenants.ts';
export * from './submissions/trace.ts';
export { findTraceContexts, storeTraceContext } from './submissions/trace-contexts.ts';
export { recordUsage, stateAtNode, type UsageOutcome } from './assignments/usage-reports.ts';
export { acceptLinkSignature } from './nodes/link-signatures.ts';
export {
  createPurchaseIntent,
  type IntentCreation,
  type NewIntent,
  type PurchaseIntent,
  readIntentStatuses,
  readPurchaseIntent,
} from './purchase-intents/intents.ts';
export {
  type CursorPosition,
  findUnreadDue,
  findWatchedAccounts,
  moveCursor,
  noteListed,
  noteUnread,
  openCursor,
  rewindCursor,
  type UnreadSignature,
  type WatchedAccount,
} from './purchase-intents/cursors.ts';
export {
  LeaseLost,
  noteWatcherState,
  releaseWatcherLease,
  takeWatcherLease,
  type WatcherLease,
} from './purchase-intents/lease.ts';
export * from './purchase-intents/operating.ts';
export {
  findRecorded,
  type FoundTransaction,
  type RecordOutcome,
  recordTransaction,
} from './purchase-intents/payments.ts';
export * from './purchase-intents/steps.ts';
