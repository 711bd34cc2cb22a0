/**
 * The requests, answers and events of the service. Generated from the OpenAPI document by
 * `pnpm openapi:freeze`: do not edit.
 */

export interface Problem {
  /** A link to the description of the error that `code` names. */
  readonly type: string;
  /** The kind of error in a few words. */
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  /** The reason for this answer, for people. */
  readonly detail: string;
  /** The stable code. Let programs decide by this code. */
  readonly code: 'bad_request' | 'unauthenticated' | 'insufficient_credits' | 'job_type_not_allowed' | 'operator_only' | 'scope_missing' | 'not_found' | 'method_not_allowed' | 'request_timeout' | 'idempotency_key_conflict' | 'terminal_state' | 'solana_disabled' | 'intent_expired' | 'intent_failed' | 'reference_conflict' | 'webhook_url_missing' | 'endpoint_limit' | 'delivery_in_progress' | 'key_limit' | 'last_key' | 'payload_too_large' | 'unsupported_media_type' | 'misdirected_request' | 'validation_error' | 'unknown_job_type' | 'unknown_tier' | 'quote_failed' | 'rate_limited' | 'too_many_intents' | 'headers_too_large' | 'internal_error' | 'dispatch_unavailable' | 'unavailable' | (string & {});
  /** The id of the request. Quote it when you contact support. */
  readonly requestId: string;
  /** For 402: the credits that the submission would have held. The unit is credits, with at most six decimals. */
  readonly required?: number;
  /** For 422: each violation. */
  readonly errors?: readonly ProblemError[];
  /** The id of the submission. */
  readonly submissionId?: string;
  /** For `terminal_state`: the status of the submission. */
  readonly submissionStatus?: 'pending' | 'dispatched' | 'running' | 'submitted' | 'failed' | 'cancelled' | (string & {});
  /** For `terminal_state`: the refund, if the submission was cancelled. */
  readonly refund?: Refund;
  /** The `reference` of the purchase intent. */
  readonly reference?: string;
  /** The amount paid so far. The unit is USDC, with at most six decimals. */
  readonly paidAmount?: number;
  /** For 429 and 503: the seconds to wait before you repeat the request. */
  readonly retryAfterSeconds?: number;
}

export interface ProblemError {
  /** A JSON Pointer to the part of the body that breaks the rule. Empty for the whole body and for a query parameter. */
  readonly path: string;
  /** The rule that the member or the parameter breaks, such as "is required". */
  readonly message: string;
  /** The JSON Schema keyword of this rule, or the name that the service gives the rule, such as `uniqueMembers`. */
  readonly keyword: string;
  /** The query parameter that breaks the rule. */
  readonly parameter?: string;
}

export interface Quote {
  /** The likely price. The unit is credits, with at most six decimals. */
  readonly estimated: number;
  /** The highest price. A submission holds this amount. The unit is credits, with at most six decimals. */
  readonly max: number;
  /** The surge multiplier, included in the prices. It rises when the nodes are busy. */
  readonly surge: number;
}

export interface Refund {
  /** The released part of the hold. The unit is credits, with at most six decimals. */
  readonly amount: number;
  /** The charged credits. The unit is credits, with at most six decimals. */
  readonly charged: number;
}

export interface Usage {
  /** Seconds that the job has run on the node. */
  readonly nodeSeconds?: number;
  /** Seconds of CPU time. */
  readonly cpuSeconds?: number;
  /** Gigabyte-seconds of memory. */
  readonly memoryGbSeconds?: number;
  /** Megabytes sent and received. */
  readonly bandwidthMb?: number;
  /** Filled fields, clicks, uploads and navigations. */
  readonly actions?: number;
}

export interface Balance {
  /** All credits, the held ones included. The unit is credits, with at most six decimals. */
  readonly balance: number;
  /** The held credits. The unit is credits, with at most six decimals. */
  readonly held: number;
  /** `balance - held`. The unit is credits, with at most six decimals. */
  readonly available: number;
  /** The unpaid rebate on charges. The unit is credits, with at most six decimals. */
  readonly rebateAccrued: number;
  /** The unit of the amounts. */
  readonly currency: 'credits';
  /** The price of a credit in US dollars. */
  readonly usdPerCredit: number;
}

export interface RateCard {
  /** The number of the rate card. */
  readonly version: number;
  /** The current surge multiplier. It rises when the nodes are busy. */
  readonly surgeMultiplier: number;
  /** The price of a credit in US dollars. */
  readonly usdPerCredit: number;
  /** The prices of each job type. */
  readonly jobTypes: readonly ({
    /** The type of the job. */
    readonly jobType: string;
    /** The prices of each tier. */
    readonly tiers: {
      /** The prices of the tier `standard`. */
      readonly standard?: Rate;
      /** The prices of the tier `priority`. */
      readonly priority?: Rate;
      /** The prices of the tier `instant`. */
      readonly instant?: Rate;
    };
  })[];
}

export interface Rate {
  /** The credits for a completed run before its usage is added. The unit is credits, with at most six decimals. */
  readonly base: number;
  /** The least credits for a completed run, before the factors of tier and surge. The unit is credits, with at most six decimals. */
  readonly min: number;
  /** The most credits for a run, before the factors of tier and surge. The unit is credits, with at most six decimals. */
  readonly max: number;
  /** The factor of the tier. */
  readonly tierMultiplier: number;
  /** The credits for each unit of usage. */
  readonly weights: Usage;
}

export interface Ready {
  /** The service is ready. */
  readonly status: 'ready';
}

export interface NotReady {
  /** The service is not ready. */
  readonly status: 'not_ready';
  /** The dependencies that do not answer. */
  readonly missing: readonly string[];
}

export interface SubmissionRequest {
  /** You can repeat a request with the same key and body: it is charged only once. Derive keys from your own records. */
  readonly idempotencyKey: string;
  /** The type of the job. */
  readonly jobType: string;
  /** The tier: how soon the job runs, and at which price. */
  readonly tier?: string;
  /** The input of the job. */
  readonly payload: AtsApplicationPayload;
}

export interface SubmissionCreated {
  /** The id of the submission. */
  readonly submissionId: string;
  /** A node has accepted the job. */
  readonly status: 'dispatched';
  /** The quoted price. */
  readonly quote: Quote;
  /** The available credits after the hold (`after`), and the amount of this hold (`held`). */
  readonly balance: {
    /** The available credits after the hold or the purchase. The unit is credits, with at most six decimals. */
    readonly after: number;
    /** The held credits. The unit is credits, with at most six decimals. */
    readonly held: number;
  };
  /** Present if this answer repeats the answer to an earlier request. */
  readonly idempotent?: true;
}

export interface Submission {
  /** The id of the submission. */
  readonly id: string;
  /** The state of the submission. */
  readonly status: 'pending' | 'dispatched' | 'running' | 'submitted' | 'failed' | 'cancelled' | (string & {});
  /** The type of the job. */
  readonly jobType: string;
  /** The tier: how soon the job runs, and at which price. */
  readonly tier: 'standard' | 'priority' | 'instant' | (string & {});
  /** You can repeat a request with the same key and body: it is charged only once. Derive keys from your own records. */
  readonly idempotencyKey: string;
  /** The quoted price. */
  readonly quote: Quote;
  /** The charged credits. Null until the submission has ended. */
  readonly actualCredits: number | null;
  /** The released credits. Null until the submission has ended. */
  readonly refundedCredits: number | null;
  /** The usage reported so far. Empty before the first report. */
  readonly usage: Usage;
  /** Why the submission failed. Null if it did not. */
  readonly failure: SubmissionFailure | null;
  /** The result of the job if the status is `submitted`. Its members depend on the job type. Null if there is none. */
  readonly result: JobResult | null;
  /** An outcome that a node reported after the submission ended. Null if there is none. */
  readonly lateOutcome: {
    /** The state of the submission. In `lateOutcome`: the outcome that the node reported. */
    readonly status: 'submitted' | 'failed' | (string & {});
    /** The time at which the node reported the outcome. */
    readonly at: string;
  } | null;
  /** The time of the creation. */
  readonly createdAt: string;
  /** The time at which a node accepted the job. */
  readonly dispatchedAt: string | null;
  /** The time at which the run began. */
  readonly startedAt: string | null;
  /** The time at which the submission ended. */
  readonly finishedAt: string | null;
}

export interface SubmissionPage {
  /** The items, newest first. */
  readonly data: readonly Submission[];
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  readonly nextCursor: string | null;
}

export interface SubmissionFailure {
  /** The reason as a code. Decide by `retriable` and `outcomeUnknown`, not by the code, whether to repeat the job. */
  readonly code: 'ats_rejected' | 'confirmation_required' | 'posting_closed' | 'form_unsupported' | 'login_required' | 'captcha' | 'site_unreachable' | 'invalid_payload' | 'node_error' | 'node_lost' | 'not_started' | 'deadline_exceeded' | (string & {});
  /** The reason, for people. */
  readonly message: string;
  /** True if the same job may succeed with a new idempotency key. */
  readonly retriable: boolean;
  /** True if the job may have been done. Check if it was done before you repeat it. */
  readonly outcomeUnknown: boolean;
}

export interface JobResult {
  /** The confirmation number that the site showed. */
  readonly confirmationId?: string;
  /** The page of the confirmation. */
  readonly confirmationUrl?: string;
  /** Facts about the run. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface CancelAnswer {
  /** The id of the submission. */
  readonly submissionId: string;
  /** The submission is cancelled. */
  readonly status: 'cancelled';
  /** How many credits the cancel released (`amount`) and charged (`charged`). */
  readonly refund: Refund;
}

export interface QuoteRequest {
  /** The type of the job. */
  readonly jobType: string;
  /** The tier: how soon the job runs, and at which price. */
  readonly tier?: string;
  /** The input of the job. */
  readonly payload: AtsApplicationPayload;
}

export interface QuoteAnswer {
  /** The quoted price. */
  readonly quote: Quote;
  /** True if the available credits cover `quote.max`. */
  readonly sufficient: boolean;
  /** `balance - held`. The unit is credits, with at most six decimals. */
  readonly available: number;
}

export interface Transaction {
  /** The id of the movement. */
  readonly id: string;
  /** The kind of the movement. */
  readonly type: 'grant' | 'hold' | 'charge' | 'release' | 'rebate' | 'reversal' | (string & {});
  /** The moved credits, always positive. The unit is credits, with at most six decimals. */
  readonly amount: number;
  /** The balance after the movement. The unit is credits, with at most six decimals. */
  readonly balanceAfter: number;
  /** The held credits after the movement. The unit is credits, with at most six decimals. */
  readonly heldAfter: number;
  /** The available credits after the movement. The unit is credits, with at most six decimals. */
  readonly availableAfter: number;
  /** The submission, if the movement belongs to one. */
  readonly submissionId: string | null;
  /** For a `grant`, the reference of the purchase or grant. For a `reversal`, the reference of the purchase that it reverses. Null for other types. */
  readonly reference: string | null;
  /** The time of the creation. */
  readonly createdAt: string;
}

export interface TransactionPage {
  /** The items, newest first. */
  readonly data: readonly Transaction[];
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  readonly nextCursor: string | null;
}

export interface Delivery {
  /** The id of the delivery, as in `X-SVC-Delivery`. */
  readonly id: string;
  /** The id of the event. */
  readonly eventId: string;
  /** The id of the webhook endpoint. Null for a delivery to the `webhookUrl` of the settings. */
  readonly endpointId: string | null;
  /** The type of the event. */
  readonly type: 'submission.completed' | 'submission.failed' | 'submission.cancelled' | 'submission.late_outcome' | 'credits.low_balance' | 'credits.purchased' | 'settings.changed' | 'webhook.test' | (string & {});
  /** The state of the delivery. */
  readonly status: 'pending' | 'delivered' | 'exhausted' | 'dropped' | (string & {});
  /** The attempts of the current round. A new round begins when a delivery is sent again. */
  readonly attempts: readonly DeliveryAttempt[];
  /** The earliest time of the next attempt. Null if there is none. */
  readonly nextAttemptAt: string | null;
  /** The time of the creation. */
  readonly createdAt: string;
}

export interface DeliveryAttempt {
  /** The number of the attempt, from 1. */
  readonly number: number;
  /** The time at which the attempt began. */
  readonly at: string;
  /** The HTTP status of the response. Null if there is no complete response, or if the result was not recorded. */
  readonly statusCode: number | null;
  /** The duration of the attempt in milliseconds. */
  readonly durationMs: number | null;
  /** Why there is no complete response. Null if there is one, or if the result was not recorded. */
  readonly error: string | null;
  /** The first 1 KiB of the response. */
  readonly response: string | null;
}

export interface DeliveryPage {
  /** The items, newest first. */
  readonly data: readonly Delivery[];
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  readonly nextCursor: string | null;
}

export interface DeliveryQueued {
  /** The id of the delivery. */
  readonly deliveryId: string;
}

export interface Settings {
  /** The URL to which the service posts events of all types. Null if there is none. Webhook endpoints have their own URLs. */
  readonly webhookUrl: string | null;
  /** The service sends `credits.low_balance` when a charge takes the balance below this value, or when you raise this value above the balance. The unit is credits, with at most six decimals. */
  readonly lowBalanceThreshold: number;
  /** When and why deliveries to `webhookUrl` were disabled. Null if they are enabled. */
  readonly webhookDisabled: {
    /** The time at which the deliveries were disabled. */
    readonly at: string;
    /** The reason, for people. */
    readonly reason: string;
  } | null;
  /** The job types that this tenant may use. */
  readonly allowedJobTypes: readonly string[];
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The environment: sandbox or production. */
  readonly environment: 'sandbox' | 'production' | (string & {});
}

export interface SettingsChange {
  /** The URL to which the service posts events of all types. Null if there is none. Webhook endpoints have their own URLs. */
  readonly webhookUrl?: string | null;
  /** The service sends `credits.low_balance` when a charge takes the balance below this value, or when you raise this value above the balance. */
  readonly lowBalanceThreshold?: number;
}

export interface WebhookEndpoint {
  /** The id of the endpoint. */
  readonly id: string;
  /** `push`: the service posts the events to `url`. `poll`: you read the events. */
  readonly kind: 'push' | 'poll' | (string & {});
  /** The URL of the endpoint. Null if the service posts nothing and you read the events yourself. */
  readonly url: string | null;
  /** The types of events that the endpoint gets. Null means all types. */
  readonly events: readonly ('submission.completed' | 'submission.failed' | 'submission.cancelled' | 'submission.late_outcome' | 'credits.low_balance' | 'credits.purchased' | 'settings.changed' | 'webhook.test' | (string & {}))[] | null;
  /** A note for your records. */
  readonly description: string | null;
  /** When and why deliveries to the URL were disabled. Null if they are enabled. */
  readonly disabled: {
    /** The time at which the deliveries were disabled. */
    readonly at: string;
    /** The reason, for people. */
    readonly reason: string;
  } | null;
  /** The time of the creation. */
  readonly createdAt: string;
}

export interface WebhookEndpointCreated {
  /** The id of the endpoint. */
  readonly id: string;
  /** `push`: the service posts the events to `url`. `poll`: you read the events. */
  readonly kind: 'push' | 'poll' | (string & {});
  /** The URL of the endpoint. Null if the service posts nothing and you read the events yourself. */
  readonly url: string | null;
  /** The types of events that the endpoint gets. Null means all types. */
  readonly events: readonly ('submission.completed' | 'submission.failed' | 'submission.cancelled' | 'submission.late_outcome' | 'credits.low_balance' | 'credits.purchased' | 'settings.changed' | 'webhook.test' | (string & {}))[] | null;
  /** A note for your records. */
  readonly description: string | null;
  /** When and why deliveries to the URL were disabled. Null if they are enabled. */
  readonly disabled: {
    /** The time at which the deliveries were disabled. */
    readonly at: string;
    /** The reason, for people. */
    readonly reason: string;
  } | null;
  /** The time of the creation. */
  readonly createdAt: string;
  /** The secret that verifies the webhooks of this endpoint. It is shown only once. */
  readonly secret: string;
}

export interface WebhookEndpointList {
  /** The endpoints, oldest first. */
  readonly data: readonly WebhookEndpoint[];
}

export interface WebhookEndpointRequest {
  /** The URL of the endpoint. Null if the service posts nothing and you read the events yourself. */
  readonly url: string | null;
  /** The types of events that the endpoint gets. Null means all types. */
  readonly events?: readonly ('submission.completed' | 'submission.failed' | 'submission.cancelled' | 'submission.late_outcome' | 'credits.low_balance' | 'credits.purchased' | 'settings.changed' | 'webhook.test')[] | null;
  /** A note for your records. */
  readonly description?: string | null;
}

export interface WebhookEndpointChange {
  /** The URL of the endpoint. Null if the service posts nothing and you read the events yourself. */
  readonly url?: string | null;
  /** The types of events that the endpoint gets. Null means all types. */
  readonly events?: readonly ('submission.completed' | 'submission.failed' | 'submission.cancelled' | 'submission.late_outcome' | 'credits.low_balance' | 'credits.purchased' | 'settings.changed' | 'webhook.test')[] | null;
  /** A note for your records. */
  readonly description?: string | null;
}

export interface RotatedSecret {
  /** The secret that verifies the webhooks of this endpoint. It is shown only once. */
  readonly secret: string;
}

export interface PolledEvent {
  /** The id of the event. */
  readonly id: string;
  /** The type of the event. */
  readonly type: 'submission.completed' | 'submission.failed' | 'submission.cancelled' | 'submission.late_outcome' | 'credits.low_balance' | 'credits.purchased' | 'settings.changed' | 'webhook.test' | (string & {});
  /** The time of the event. */
  readonly timestamp: string;
  /** The facts of the event. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The id of the delivery. */
  readonly deliveryId: string;
}

export interface PolledEvents {
  /** The events, oldest first. */
  readonly data: readonly PolledEvent[];
  /** Pass it as `after` to read later events. It is never null. */
  readonly nextCursor: string;
}

export interface PurchaseIntent {
  /** The id of the intent: a Solana public key. */
  readonly reference: string;
  /** The Solana Pay URL of the intent, for a wallet. Pay exactly the amount in the URL, and name its reference in the transaction. */
  readonly solanaPayUrl: string;
  /** The credits of the purchase. The unit is credits, with at most six decimals. */
  readonly credits: number;
  /** The price. The unit is USDC, with at most six decimals. */
  readonly amount: number;
  /** The token to pay with. */
  readonly token: 'USDC';
  /** The state of the intent. */
  readonly status: 'pending' | 'confirmed' | 'expired' | 'failed' | (string & {});
  /** The amount paid so far. The unit is USDC, with at most six decimals. */
  readonly paidAmount: number;
  /** The signature of the transaction that completed the payment. Null until the intent is confirmed. */
  readonly signature: string | null;
  /** The time at which the intent became `confirmed`. Null until then. */
  readonly confirmedAt: string | null;
  /** The payments of the intent, oldest first. At most 1,000 are listed. */
  readonly payments: readonly PurchasePayment[];
  /** The time of the creation. */
  readonly createdAt: string;
  /** The time at which the intent expires, unless it is paid in full before. */
  readonly expiresAt: string;
}

export interface PurchasePayment {
  /** The signature of the transaction. */
  readonly signature: string;
  /** The amount of this payment. The unit is USDC, with at most six decimals. */
  readonly amount: number;
  /** The time at which the payment was recorded. */
  readonly at: string;
}

export interface Key {
  /** The id of the key. Send it in `X-SVC-Key`. */
  readonly keyId: string;
  /** The scopes of the key. `read`: all reads, and quotes. `spend`: creations, cancels and purchase intents. `settings`: all other changes, such as of settings, webhooks and keys. */
  readonly scopes: readonly ('read' | 'spend' | 'settings' | (string & {}))[];
  /** The CIDR blocks that requests must come from. If empty, any address is allowed. */
  readonly addresses: readonly string[];
  /** The time of the creation. */
  readonly createdAt: string;
  /** The time at which the key expires. Null if it never expires. */
  readonly expiresAt: string | null;
  /** The minute of the last use. Null if no use is known. */
  readonly lastUsedAt: string | null;
}

export interface KeyList {
  /** The items, newest first. */
  readonly data: readonly Key[];
}

export interface KeyRequest {
  /** The scopes of the key. `read`: all reads, and quotes. `spend`: creations, cancels and purchase intents. `settings`: all other changes, such as of settings, webhooks and keys. */
  readonly scopes?: readonly ('read' | 'spend' | 'settings')[];
  /** The CIDR blocks that requests must come from. If empty, any address is allowed. */
  readonly addresses?: readonly string[];
  /** The days until the key expires. If omitted, the key never expires. */
  readonly expiresInDays?: number;
}

export interface KeyCreated {
  /** The id of the key. Send it in `X-SVC-Key`. */
  readonly keyId: string;
  /** The scopes of the key. `read`: all reads, and quotes. `spend`: creations, cancels and purchase intents. `settings`: all other changes, such as of settings, webhooks and keys. */
  readonly scopes: readonly ('read' | 'spend' | 'settings' | (string & {}))[];
  /** The CIDR blocks that requests must come from. If empty, any address is allowed. */
  readonly addresses: readonly string[];
  /** The time of the creation. */
  readonly createdAt: string;
  /** The time at which the key expires. Null if it never expires. */
  readonly expiresAt: string | null;
  /** The minute of the last use. Null if no use is known. */
  readonly lastUsedAt: string | null;
  /** The secret with which you sign requests. It is shown only once. */
  readonly hmacSecret: string;
}

export interface ChangeAuthor {
  /** The id of the key that signed the request for the change. Null if no key is recorded. */
  readonly keyId?: string | null;
  /** The id of the operator. `local` if a program of the service made the change without the key of an operator. */
  readonly operator?: string;
}

export interface AuditEntry {
  /** The change, such as `settings.updated`. */
  readonly what: 'settings.updated' | 'secret.rotated' | 'key.created' | 'key.deleted' | 'endpoint.created' | 'endpoint.updated' | 'endpoint.deleted' | 'endpoint.secret_rotated' | (string & {});
  /** Who made the change. */
  readonly by: ChangeAuthor;
  /** The time of the change. */
  readonly at: string;
  /** The values before the change. For settings: those that the change names. For an endpoint: `endpointId`, `kind`, `url`, `events` and `description`. For a key: `keyId`, `scopes`, `addresses` and `expiresAt`. For a rotated secret of a webhook endpoint: the id of the endpoint. For any other rotated secret: the number of valid secrets of its kind. Null for a creation. */
  readonly before: Readonly<Record<string, unknown>> | null;
  /** The values after the change. For settings: those that the change names. For an endpoint or key: the members that the description of `before` names. For a rotated secret: members such as `overlapMs` (the milliseconds for which the previous secret stays valid). Null for a deletion. */
  readonly after: Readonly<Record<string, unknown>> | null;
  /** The id of the request, or of the command of the operator, that made the change. Null if the service made it by itself. */
  readonly requestId: string | null;
}

export interface AuditPage {
  /** The items, newest first. */
  readonly data: readonly AuditEntry[];
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  readonly nextCursor: string | null;
}

export interface AtsApplicationPayload {
  /** The URL of the application page: http or https, with a public host and without credentials. */
  readonly applicationUrl: string;
  /** The kind of the site, as a hint. In the sandbox it selects what the simulated node does. */
  readonly atsType: string;
  /** The applicant. The profile may nest at most 64 levels deep. The service passes it on as sent. `/docs/applicant-profile` describes how nodes read it. */
  readonly applicantProfile: Readonly<Record<string, unknown>>;
  /** The advertised job. Further members are allowed. */
  readonly jobContext: {
    /** The title of the advertised job. */
    readonly title: string;
    /** The employer. */
    readonly company: string;
    readonly [member: string]: unknown;
  };
}

export interface ListSubmissionsQuery {
  /** Only items with this status. */
  readonly status?: 'pending' | 'dispatched' | 'running' | 'submitted' | 'failed' | 'cancelled';
  /** Only the submission with this key. */
  readonly idempotencyKey?: string;
  /** Only submissions created at this time or later. */
  readonly createdAfter?: string;
  /** Only submissions created before this time. */
  readonly createdBefore?: string;
  /** The most items on a page. */
  readonly limit?: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
}

export interface ListTransactionsQuery {
  /** Only movements of this kind. */
  readonly type?: 'grant' | 'hold' | 'charge' | 'release' | 'rebate' | 'reversal';
  /** Only movements of this submission. */
  readonly submissionId?: string;
  /** The most items on a page. */
  readonly limit?: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
}

export interface AwaitPurchaseIntentQuery {
  /** The most seconds to wait for the payment. Default: 30. */
  readonly timeoutSeconds?: number;
}

export interface ListDeliveriesQuery {
  /** Only items with this status. */
  readonly status?: 'pending' | 'delivered' | 'exhausted' | 'dropped';
  /** The most items on a page. */
  readonly limit?: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
}

export interface ListAuditQuery {
  /** The most items on a page. */
  readonly limit?: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
}

export interface PollWebhookEventsQuery {
  /** `nextCursor` of the previous page. */
  readonly after?: string;
  /** The most items on a page. */
  readonly limit?: number;
  /** The most seconds to wait for an event if there is none. Default: 0. */
  readonly waitSeconds?: number;
}

export interface SubmissionCompletedEvent {
  /** The id of the event. */
  readonly id: string;
  /** The time of the event. An RFC 3339 time in UTC with milliseconds. */
  readonly timestamp: string;
  /** The type of the event. */
  readonly type: 'submission.completed';
  /** The facts of the event. */
  readonly data: {
    /** The id of the submission. */
    readonly submissionId: string;
    /** The type of the job. */
    readonly jobType: string;
    /** The tier: how soon the job runs, and at which price. */
    readonly tier: 'standard' | 'priority' | 'instant' | (string & {});
    /** The charged credits. Null until the submission has ended. The unit is credits, with at most six decimals. */
    readonly actualCredits: number;
    /** The released credits. Null until the submission has ended. The unit is credits, with at most six decimals. */
    readonly refundedCredits: number;
    /** The state of the submission. */
    readonly status: 'submitted';
  };
}

export interface SubmissionFailedEvent {
  /** The id of the event. */
  readonly id: string;
  /** The time of the event. An RFC 3339 time in UTC with milliseconds. */
  readonly timestamp: string;
  /** The type of the event. */
  readonly type: 'submission.failed';
  /** The facts of the event. */
  readonly data: {
    /** The id of the submission. */
    readonly submissionId: string;
    /** The type of the job. */
    readonly jobType: string;
    /** The tier: how soon the job runs, and at which price. */
    readonly tier: 'standard' | 'priority' | 'instant' | (string & {});
    /** The charged credits. Null until the submission has ended. The unit is credits, with at most six decimals. */
    readonly actualCredits: number;
    /** The released credits. Null until the submission has ended. The unit is credits, with at most six decimals. */
    readonly refundedCredits: number;
    /** The submission failed. */
    readonly status: 'failed';
    /** Why the submission failed. Null if it did not. */
    readonly failure: {
      /** The reason as a code. Decide by `retriable` and `outcomeUnknown`, not by the code, whether to repeat the job. */
      readonly code: string;
      /** The reason, for people. */
      readonly message: string;
      /** True if the same job may succeed with a new idempotency key. */
      readonly retriable: boolean;
      /** True if the job may have been done. Check if it was done before you repeat it. */
      readonly outcomeUnknown: boolean;
    };
  };
}

export interface SubmissionCancelledEvent {
  /** The id of the event. */
  readonly id: string;
  /** The time of the event. An RFC 3339 time in UTC with milliseconds. */
  readonly timestamp: string;
  /** The type of the event. */
  readonly type: 'submission.cancelled';
  /** The facts of the event. */
  readonly data: {
    /** The id of the submission. */
    readonly submissionId: string;
    /** The type of the job. */
    readonly jobType: string;
    /** The tier: how soon the job runs, and at which price. */
    readonly tier: 'standard' | 'priority' | 'instant' | (string & {});
    /** The charged credits. Null until the submission has ended. The unit is credits, with at most six decimals. */
    readonly actualCredits: number;
    /** The released credits. Null until the submission has ended. The unit is credits, with at most six decimals. */
    readonly refundedCredits: number;
    /** The submission was cancelled. */
    readonly status: 'cancelled';
    /** Who cancelled the submission. */
    readonly by: 'tenant' | 'operator' | (string & {});
  };
}

export interface SubmissionLateOutcomeEvent {
  /** The id of the event. */
  readonly id: string;
  /** The time of the event. An RFC 3339 time in UTC with milliseconds. */
  readonly timestamp: string;
  /** The type of the event. */
  readonly type: 'submission.late_outcome';
  /** The facts of the event. */
  readonly data: {
    /** The id of the submission. */
    readonly submissionId: string;
    /** The outcome that the node reported. */
    readonly status: 'submitted' | 'failed' | (string & {});
    /** The time at which the node reported the outcome. An RFC 3339 time in UTC with milliseconds. */
    readonly at: string;
  };
}

export interface CreditsLowBalanceEvent {
  /** The id of the event. */
  readonly id: string;
  /** The time of the event. An RFC 3339 time in UTC with milliseconds. */
  readonly timestamp: string;
  /** The type of the event. */
  readonly type: 'credits.low_balance';
  /** The facts of the event. */
  readonly data: {
    /** All credits, the held ones included. The unit is credits, with at most six decimals. */
    readonly balance: number;
    /** `balance - held`. The unit is credits, with at most six decimals. */
    readonly available: number;
    /** The held credits. The unit is credits, with at most six decimals. */
    readonly held: number;
    /** The balance is below this threshold. The unit is credits, with at most six decimals. */
    readonly threshold: number;
  };
}

export interface CreditsPurchasedEvent {
  /** The id of the event. */
  readonly id: string;
  /** The time of the event. An RFC 3339 time in UTC with milliseconds. */
  readonly timestamp: string;
  /** The type of the event. */
  readonly type: 'credits.purchased';
  /** The facts of the event. */
  readonly data: {
    /** The purchase intent that was paid. The value is the `reference` of the intent. */
    readonly reference: string;
    /** The credits of the purchase. The unit is credits, with at most six decimals. */
    readonly credits: number;
    /** The amount paid so far. The unit is USDC, with at most six decimals. */
    readonly paidAmount: number;
    /** The signature of the transaction that completed the payment. Null until the intent is confirmed. Never null in this event. */
    readonly signature: string;
  };
}

export interface SettingsChangedEvent {
  /** The id of the event. */
  readonly id: string;
  /** The time of the event. An RFC 3339 time in UTC with milliseconds. */
  readonly timestamp: string;
  /** The type of the event. */
  readonly type: 'settings.changed';
  /** The facts of the event. */
  readonly data: {
    /** The change, such as `settings.updated`. More values may be added. */
    readonly what: string;
    /** Who made the change: a tenant key or an operator. */
    readonly by: {
      /** The id of the key that signed the request for the change. Null if no key is recorded. */
      readonly keyId: string | null;
    } | {
      /** The id of the operator. `local` if a program of the service made the change without the key of an operator. */
      readonly operator: string;
    };
    /** The time of the change. An RFC 3339 time in UTC with milliseconds. */
    readonly at: string;
  };
}

export interface WebhookTestEvent {
  /** The id of the event. */
  readonly id: string;
  /** The time of the event. An RFC 3339 time in UTC with milliseconds. */
  readonly timestamp: string;
  /** The type of the event. */
  readonly type: 'webhook.test';
  /** The facts of the event. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Every known event. The service may add event types: acknowledge and ignore those you do not know. */
export type WebhookEvent =
  | SubmissionCompletedEvent
  | SubmissionFailedEvent
  | SubmissionCancelledEvent
  | SubmissionLateOutcomeEvent
  | CreditsLowBalanceEvent
  | CreditsPurchasedEvent
  | SettingsChangedEvent
  | WebhookTestEvent;
