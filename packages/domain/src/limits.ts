import { microsPerCredit } from './credits.ts';
import type { Tier } from './rate-card.ts';

/**
 * Limits and defaults of packages and services. The headings name sections of docs/CONTRACT.md.
 */

// Requests (CONTRACT 1 to 3 and 5).
export const replayWindowSeconds = 300;
export const signatureValuesMax = 4;
export const bodyBytesMax = 256 * 1024;
/** The most JSON values in a body: objects, arrays, strings, numbers and literals. */
export const jsonValuesMax = 10_000;
/** A body takes one token of the rate limit more for each full number of this many values. */
export const jsonValuesPerToken = 1_000;
/** The most bytes of a body at endpoints that need no signature. */
export const openBodyBytesMax = 8 * 1024;
export const headersBytesMax = 16 * 1024;
/** A client that takes longer than this to send its request gets a 408. */
export const requestTimeoutMs = 30_000;
/** A body may come slower than `bodyBytesPerSecondMin` for this long, at its begin or later. */
export const bodySlowMsMax = 2_000;
export const bodyBytesPerSecondMin = 8 * 1024;
/**
 * By default, the bodies that one gateway keeps of requests that nobody has authenticated yet have
 * at most this many bytes.
 */
export const unauthenticatedBodyBytesDefault = 64 * 1024 * 1024;
/** The bodies of one address may take this part of them: one eighth. */
export const unauthenticatedBodyShares = 8;
/** By default, one process has at most this many connections of tenants or nodes. */
export const connectionsMaxDefault = 10_000;
/** By default, this many of them come from one IPv4 address or IPv6 /64 network. */
export const addressConnectionsMaxDefault = 1_000;
/**
 * The rate limit of failed authentications keeps at most this many characters of the id of a
 * tenant, operator or node. It cuts a longer id.
 */
export const identityLengthMax = 64;
export const requestIdLengthMax = 128;
export const idempotencyKeyLengthMax = 128;
export const jobTypeLengthMax = 128;
export const applicationUrlLengthMax = 2048;
/** The deepest nesting of a member of a payload. The member itself is level 1. */
export const payloadMemberDepthMax = 64;
export const atsTypeLengthMax = 64;
export const jobContextTextLengthMax = 512;
export const rateLimitPerSecondDefault = 100;
export const rateLimitBurstDefault = 200;
export const pageLimitDefault = 20;
export const pageLimitMax = 100;
export const signupsPerHourDefault = 5;
/** By default, a tenant that signed up itself has at most this many submissions in flight. */
export const signupInFlightMaxDefault = 25;
export const tenantNameLengthMax = 128;

// Keys of a tenant (CONTRACT 12).
/** A tenant changes settings, keys and endpoints this often, after a burst. */
export const settingsChangesPerSecond = 1;
export const settingsChangesBurst = 30;
export const tenantKeysMax = 10;
export const keyAddressesMax = 20;
export const keyExpiresInDaysMax = 3_650;

// Money (CONTRACT 4).
export const lowBalanceThresholdDefaultMicros = 1000n * microsPerCredit;
export const purchaseReferenceLengthMax = 128;
export const purchaseNoteLengthMax = 1024;
export const signupGrantDefaultMicros = 10_000n * microsPerCredit;

// Dispatch (CONTRACT 3 and 7).
/**
 * The time from the hold to the dispatch deadline. After the deadline, the submission is not
 * dispatched any more. But in a recovery, a node may still report a dispatch that was lost.
 */
export const dispatchDeadlineMs = 5000;
/**
 * The gateway or the reconciler rejects a submission that is still pending this long after its
 * dispatch deadline. While a recovery is in force, neither does.
 */
export const dispatchGraceMs = 1000;
export const offerTimeoutMs = 2000;
/** If the only open offer is this old, the dispatcher looks for a second node to ask. */
export const secondOfferAfterMs = 300;
export const openOffersMax = 2;
/** The node drops an accepted offer after this time without `assign` or `revoke`. */
export const acceptedOfferVoidAfterMs = 10_000;
export const retryAfterSecondsDefault = 1;

// Runs (CONTRACT 7).
/** The most time from `dispatched` to `start`. */
export const startDeadlineMs = 60_000;
/**
 * The length of a run's lease, from `begin` or from the node's report in a recovery. A valid
 * `usage` frame and a repeated `start` of the same instance renew the lease.
 */
export const leaseMs = 60_000;
/**
 * The run limit, by tier. A submission without an outcome fails with `deadline_exceeded` this long
 * after `dispatched`, except during a recovery.
 */
export const runLimitMs: Readonly<Record<Tier, number>> = {
  standard: 30 * 60_000,
  priority: 10 * 60_000,
  instant: 5 * 60_000,
};
export const usageIntervalMs = 5000;
/**
 * The dispatcher frees a submission's slot at the latest this long after the first `cancel` frame,
 * even if the node sent neither `stopped` nor an outcome.
 */
export const stoppedDeadlineMs = 30_000;
export const failureMessageLengthMax = 512;
export const resultBytesMax = 16 * 1024;
/** By default, personal data is deleted this many days after the end of its submission. */
export const payloadRetentionDaysDefault = 30;
/**
 * Postgres cancels a statement of a service after this time, because the services' role in Postgres
 * has this time as its `statement_timeout`.
 */
export const statementTimeoutMs = 10_000;
export const databaseAnswerTimeoutMsDefault = 15_000;
export const databaseConnectTimeoutMsDefault = 5_000;
/** By default, at most this many concurrent calls of one store function share an SQL statement. */
export const databaseBatchMaxDefault = 64;
/**
 * If a worker has not renewed its lock of a dispatch or settlement job for this long, the job
 * counts as stalled.
 */
export const jobLockMs = 30_000;
/** By default, a dispatcher runs at most this many jobs of its queue at once. */
export const dispatchConcurrencyDefault = 128;
/** By default, a settlement process runs at most this many jobs of its queue at once. */
export const settlementConcurrencyDefault = 16;
/**
 * By default, one transaction purges the payloads of at most this many submissions, or deletes at
 * most this many expired events.
 */
export const deletionBatchMaxDefault = 500;
/** By default, usage reports are kept at least this long after their submission was created. */
export const usageRetentionDaysDefault = 90;
/**
 * By default, deliveries, their attempts and their events are kept at least this long after the
 * delivery was created.
 */
export const deliveryRetentionDaysDefault = 90;
/**
 * The shortest retention, in days, that can be set for usage reports, deliveries and events.
 * `svc_drop_partition` and `svc_delete_events` refuse to delete younger rows.
 */
export const retentionDaysMin = 30;

// The node link (CONTRACT 7).
export const heartbeatSeconds = 5;
export const linkSilentMs = 15_000;
export const frameFromNodeBytesMax = 256 * 1024;
export const frameToNodeBytesMax = 1024 * 1024;
/** The deepest nesting of a frame from a node. The frame itself is level 1. */
export const frameFromNodeDepthMax = 32;
export const badFramesMax = 3;
export const confirmationIdLengthMax = 256;
export const confirmationUrlLengthMax = 2048;

// Webhooks (CONTRACT 6).
export const webhookTimeoutMs = 15_000;
/**
 * The wait for the addresses of the second IP family, once the first one has answered. Some name
 * servers drop queries for one family.
 */
export const secondFamilyWaitMs = 100;
export const webhookAttemptsMax = 8;
export const webhookAgeMaxMs = 72 * 3_600_000;
export const webhookBackoffSecondsDefault = '5,60,300,900,2400,7200,18000';
export const webhookResponseKeptBytesMax = 1024;
export const webhookUrlLengthMax = 2048;
/** By default, a process of `webhooks` sends at most this many requests to one endpoint at once. */
export const webhookEndpointRequestsDefault = 8;
export const webhookRequestsDefault = 512;
/**
 * By default, a tenant that signed up itself gets at most this many webhook attempts per clock
 * hour. The limit keeps such a tenant from flooding other people's servers.
 */
export const signupWebhookAttemptsPerHourDefault = 5_000;
/**
 * In this time, at most one `webhook.test` goes to the URL of a tenant's settings (CONTRACT 5), and
 * at most one to each webhook endpoint (CONTRACT 12).
 */
export const webhookTestIntervalMs = 60_000;

// Webhook endpoints (CONTRACT 12).
export const webhookEndpointsMax = 5;
export const endpointDescriptionLengthMax = 256;
export const rotationOverlapHoursDefault = 24;
export const rotationOverlapHoursMax = 168;
/** How long an endpoint without a URL keeps its events. */
export const polledEventAgeMaxMs = 24 * 3_600_000;
/** The most events that an endpoint without a URL keeps. */
export const polledEventsMax = 1_000;
export const pollWaitSecondsMax = 30;

/**
 * The reconciler of settlement settles submissions in batches of at most this many. It settles the
 * submissions of a batch concurrently (decision 9).
 */
export const batchIdsMax = 64;

export const ledgerAuditIntervalMs = 300_000;
/** The age after which the result of the last ledger audit is out of date. */
export const ledgerVerdictAgeMsMax = 900_000;
/** The time within which an audit of the whole ledger should end. */
export const ledgerFullAuditMs = 86_400_000;
