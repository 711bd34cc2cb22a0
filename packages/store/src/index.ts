export type { Actor, AuditedChange, Author } from './audit.ts';
export * from './audit-chain.ts';
export * from './audit-list.ts';
export * from './corrections.ts';
export { type Balance, readBalance } from './credits.ts';
export {
  type AgedCursor,
  attemptClaimMs,
  exhaustAgedRounds,
  findAgedRounds,
  findDueEndpoints,
} from './deliveries.ts';
export * from './delivery-claims.ts';
export * from './delivery-list.ts';
export * from './delivery-records.ts';
export * from './delivery-recovery.ts';
export * from './dispatching.ts';
export * from './endings.ts';
export * from './environment.ts';
export { isAnswerLost, isUnavailable } from './errors.ts';
export { holdSubmission, type HoldOutcome, type NewSubmission } from './holding.ts';
export * from './every-submission.ts';
export * from './ledger-audit.ts';
export type { LedgerFault, LedgerFaultKind } from './ledger-fault.ts';
export * from './ledger-verdict.ts';
export * from './migrate.ts';
export { type HelloFinding, loseLeftBehind, loseUnnamed, loseUnsent } from './lost-assignments.ts';
export * from './node-changes.ts';
export * from './node-links.ts';
export {
  findChangedNodes,
  findNodeCredentials,
  findNodeStanding,
  type NodeStanding,
} from './node-secrets.ts';
export {
  createNode,
  findNode,
  listNodes,
  type NewNode,
  type NodeRecord,
  touchNodes,
} from './nodes.ts';
export * from './operators.ts';
export * from './operators-hand.ts';
export * from './opening.ts';
export * from './outcomes.ts';
export * from './overdue.ts';
export * from './partitions.ts';
export * from './reconcile-failures.ts';
export { type ReconcileCandidate, reconcileTogether } from './reconcile-page.ts';
export { rateCardOfVersion } from './pinned-cards.ts';
export { type Grant, grantCredits, type GrantOutcome } from './purchases.ts';
export {
  type ExpiredCursor,
  findExpired,
  purgeExpired,
  type PurgeOutcome,
  purgePageMax,
  purgeSubmission,
} from './purging.ts';
export * from './rate-card-history.ts';
export * from './rate-cards.ts';
export { queueWebhookTest, redeliver, type RedeliveryOutcome } from './redelivery.ts';
export * from './reseal.ts';
export { eventPlace, payloadPlace, responsePlace } from './sealed.ts';
export { beginReseal, endReseal } from './sealing-phase.ts';
export { type ServiceFailureResult, storeServiceFailure } from './service-failures.ts';
export * from './settings.ts';
export * from './statement.ts';
export { openStore, ping, type Sealer, type Store, type StoreOptions } from './store.ts';
export * from './status.ts';
export * from './submission-list.ts';
export * from './submissions.ts';
export * from './surge-pin.ts';
export { findTenantCredentials, type TenantCredentials } from './tenant-credentials.ts';
export * from './tenant-secrets.ts';
export * from './tenants.ts';
export * from './trace.ts';
export { recordUsage, stateAtNode, type UsageOutcome } from './usage-reports.ts';
export { acceptLinkSignature } from './link-signatures.ts';
