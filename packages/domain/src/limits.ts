import { microsPerCredit } from './credits.ts';
import type { Tier } from './rate-card.ts';

/** Every limit that more than one room must agree on, with the clause that sets it. */

// Requests (CONTRACT 1 to 3).
export const replayWindowSeconds = 300;
export const signatureValuesMax = 4;
export const bodyBytesMax = 256 * 1024;
/** Of endpoints that anybody may ask without a signature. */
export const openBodyBytesMax = 8 * 1024;
export const headersBytesMax = 16 * 1024;
/** A client that takes longer to send its request is answered 408. */
export const requestTimeoutMs = 30_000;
export const requestIdLengthMax = 128;
export const idempotencyKeyLengthMax = 128;
export const jobTypeLengthMax = 128;
export const applicationUrlLengthMax = 2048;
/** How deep a member of a payload may nest; the member itself is level 1. */
export const payloadMemberDepthMax = 64;
export const atsTypeLengthMax = 64;
export const jobContextTextLengthMax = 512;
export const rateLimitPerSecondDefault = 100;
export const rateLimitBurstDefault = 200;
export const pageLimitDefault = 20;
export const pageLimitMax = 100;
export const signupsPerHourDefault = 5;
/** Submissions in flight of a tenant that signed up: below what its grant holds. */
export const signupInFlightMaxDefault = 25;
export const tenantNameLengthMax = 128;

// Money (CONTRACT 4).
export const lowBalanceThresholdDefaultMicros = 1000n * microsPerCredit;
export const purchaseReferenceLengthMax = 128;
export const purchaseNoteLengthMax = 1024;
export const signupGrantDefaultMicros = 10_000n * microsPerCredit;

// Dispatch (CONTRACT 3 and 7).
/** From the hold on; later nothing is dispatched any more. */
export const dispatchDeadlineMs = 5000;
/** Past the deadline, before a waiting duplicate or the reconciler rejects the submission. */
export const dispatchGraceMs = 1000;
export const offerTimeoutMs = 2000;
/** The age of the only open offer at which a second one goes to another node. */
export const secondOfferAfterMs = 300;
export const openOffersMax = 2;
/** An accepted offer without `assign` or `revoke` is void on the node's side after this. */
export const acceptedOfferVoidAfterMs = 10_000;
/** What `Retry-After` says on 503. */
export const retryAfterSecondsDefault = 1;

// Runs (CONTRACT 7).
/** From dispatch to `start`. */
export const startDeadlineMs = 60_000;
/** From `begin` or the last frame that names the submission. */
export const leaseMs = 60_000;
/** From dispatch to the end, by tier. */
export const runLimitMs: Readonly<Record<Tier, number>> = {
  standard: 30 * 60_000,
  priority: 10 * 60_000,
  instant: 5 * 60_000,
};
export const usageIntervalMs = 5000;
/** A cancelled node that does not answer `stopped` gets its slot back after this. */
export const stoppedDeadlineMs = 30_000;
export const failureMessageLengthMax = 512;
export const resultBytesMax = 16 * 1024;
/** How long personal data is kept after the end of its submission. */
export const payloadRetentionDaysDefault = 30;

// The node link (CONTRACT 7).
export const heartbeatSeconds = 5;
export const linkSilentMs = 15_000;
export const frameFromNodeBytesMax = 256 * 1024;
export const frameToNodeBytesMax = 1024 * 1024;
/** How deep a frame from a node may nest; the frame itself is level 1. */
export const frameFromNodeDepthMax = 32;
export const badFramesMax = 3;
export const confirmationIdLengthMax = 256;
export const confirmationUrlLengthMax = 2048;

// Webhooks (CONTRACT 6).
export const webhookTimeoutMs = 15_000;
export const webhookAttemptsMax = 8;
export const webhookAgeMaxMs = 72 * 3_600_000;
export const webhookBackoffSecondsDefault = '5,60,300,900,2400,7200,18000';
export const webhookResponseKeptBytesMax = 1024;
export const webhookUrlLengthMax = 2048;
/** Requests at a time to one tenant's endpoint, of one deliverer. */
export const webhookEndpointRequestsDefault = 8;
/** Attempts in an hour that a tenant may cause who signed up by itself: it may not hammer others. */
export const signupWebhookAttemptsPerHourDefault = 5_000;
/** At most one `webhook.test` a tenant in this time (CONTRACT 5). */
export const webhookTestIntervalMs = 60_000;

/** How many ids one job or one batched statement carries (docs/decisions/0009). */
export const batchIdsMax = 64;

/** How often the ledger is audited, and from which age on its last verdict says nothing any more. */
export const ledgerAuditIntervalMs = 300_000;
export const ledgerVerdictAgeMsMax = 1_800_000;
