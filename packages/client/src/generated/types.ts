/**
 * The requests, answers and events of the service. Generated from the OpenAPI document by
 * `pnpm openapi:freeze`: do not edit.
 */

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: 'bad_request' | 'unauthenticated' | 'insufficient_credits' | 'job_type_not_allowed' | 'operator_only' | 'not_found' | 'method_not_allowed' | 'request_timeout' | 'idempotency_key_conflict' | 'terminal_state' | 'solana_disabled' | 'intent_expired' | 'intent_failed' | 'reference_conflict' | 'webhook_url_missing' | 'delivery_in_progress' | 'payload_too_large' | 'unsupported_media_type' | 'misdirected_request' | 'validation_error' | 'unknown_job_type' | 'unknown_tier' | 'quote_failed' | 'rate_limited' | 'headers_too_large' | 'internal_error' | 'dispatch_unavailable' | 'unavailable' | (string & {});
  readonly requestId: string;
  /** Credits, at most six decimals. */
  readonly required?: number;
  readonly errors?: readonly ProblemError[];
  readonly submissionId?: string;
  readonly submissionStatus?: 'pending' | 'dispatched' | 'running' | 'submitted' | 'failed' | 'cancelled' | (string & {});
  readonly refund?: Refund;
  readonly retryAfterSeconds?: number;
}

export interface ProblemError {
  readonly path: string;
  readonly message: string;
  readonly keyword: string;
  readonly parameter?: string;
}

export interface Quote {
  /** Credits, at most six decimals. */
  readonly estimated: number;
  /** Credits, at most six decimals. */
  readonly max: number;
  readonly surge: number;
}

export interface Refund {
  /** Credits, at most six decimals. */
  readonly amount: number;
  /** Credits, at most six decimals. */
  readonly charged: number;
}

export interface Usage {
  readonly nodeSeconds?: number;
  readonly cpuSeconds?: number;
  readonly memoryGbSeconds?: number;
  readonly bandwidthMb?: number;
  readonly actions?: number;
}

export interface Balance {
  /** Credits, at most six decimals. */
  readonly balance: number;
  /** Credits, at most six decimals. */
  readonly held: number;
  /** Credits, at most six decimals. */
  readonly available: number;
  /** Credits, at most six decimals. */
  readonly rebateAccrued: number;
  readonly currency: 'credits';
  readonly usdPerCredit: number;
}

export interface RateCard {
  readonly version: number;
  readonly surgeMultiplier: number;
  readonly usdPerCredit: number;
  readonly jobTypes: readonly ({
    readonly jobType: string;
    readonly tiers: {
      readonly standard?: Rate;
      readonly priority?: Rate;
      readonly instant?: Rate;
    };
  })[];
}

export interface Rate {
  /** Credits, at most six decimals. */
  readonly base: number;
  /** Credits, at most six decimals. */
  readonly min: number;
  /** Credits, at most six decimals. */
  readonly max: number;
  readonly tierMultiplier: number;
  readonly weights: Usage;
}

export interface Ready {
  readonly status: 'ready';
}

export interface NotReady {
  readonly status: 'not_ready';
  readonly missing: readonly string[];
}

export interface SubmissionRequest {
  readonly idempotencyKey: string;
  readonly jobType: string;
  readonly tier?: string;
  readonly payload: AtsApplicationPayload;
}

export interface SubmissionCreated {
  readonly submissionId: string;
  readonly status: 'dispatched';
  readonly quote: Quote;
  readonly balance: {
    /** Credits, at most six decimals. */
    readonly after: number;
    /** Credits, at most six decimals. */
    readonly held: number;
  };
  readonly idempotent?: true;
}

export interface Submission {
  readonly id: string;
  readonly status: 'pending' | 'dispatched' | 'running' | 'submitted' | 'failed' | 'cancelled' | (string & {});
  readonly jobType: string;
  readonly tier: 'standard' | 'priority' | 'instant' | (string & {});
  readonly idempotencyKey: string;
  readonly quote: Quote;
  readonly actualCredits: number | null;
  readonly refundedCredits: number | null;
  readonly usage: Usage;
  readonly failure: SubmissionFailure | null;
  readonly result: JobResult | null;
  readonly lateOutcome: {
    readonly status: 'submitted' | 'failed' | (string & {});
    readonly at: string;
  } | null;
  readonly createdAt: string;
  readonly dispatchedAt: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export interface SubmissionPage {
  readonly data: readonly Submission[];
  readonly nextCursor: string | null;
}

export interface SubmissionFailure {
  readonly code: 'ats_rejected' | 'posting_closed' | 'form_unsupported' | 'login_required' | 'captcha' | 'site_unreachable' | 'invalid_payload' | 'node_error' | 'node_lost' | 'not_started' | 'deadline_exceeded' | (string & {});
  readonly message: string;
  readonly retriable: boolean;
  readonly outcomeUnknown: boolean;
}

export interface JobResult {
  readonly confirmationId?: string;
  readonly confirmationUrl?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface CancelAnswer {
  readonly submissionId: string;
  readonly status: 'cancelled';
  readonly refund: Refund;
}

export interface QuoteRequest {
  readonly jobType: string;
  readonly tier?: string;
  readonly payload: AtsApplicationPayload;
}

export interface QuoteAnswer {
  readonly quote: Quote;
  readonly sufficient: boolean;
  /** Credits, at most six decimals. */
  readonly available: number;
}

export interface Transaction {
  readonly id: string;
  readonly type: 'grant' | 'hold' | 'charge' | 'release' | 'rebate' | 'reversal' | (string & {});
  /** Credits, at most six decimals. */
  readonly amount: number;
  /** Credits, at most six decimals. */
  readonly balanceAfter: number;
  /** Credits, at most six decimals. */
  readonly heldAfter: number;
  /** Credits, at most six decimals. */
  readonly availableAfter: number;
  readonly submissionId: string | null;
  readonly reference: string | null;
  readonly createdAt: string;
}

export interface TransactionPage {
  readonly data: readonly Transaction[];
  readonly nextCursor: string | null;
}

export interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly type: 'submission.completed' | 'submission.failed' | 'submission.cancelled' | 'submission.late_outcome' | 'credits.low_balance' | 'webhook.test' | (string & {});
  readonly status: 'pending' | 'delivered' | 'exhausted' | 'dropped' | (string & {});
  readonly attempts: readonly DeliveryAttempt[];
  readonly nextAttemptAt: string | null;
  readonly createdAt: string;
}

export interface DeliveryAttempt {
  readonly number: number;
  readonly at: string;
  readonly statusCode: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

export interface DeliveryPage {
  readonly data: readonly Delivery[];
  readonly nextCursor: string | null;
}

export interface DeliveryQueued {
  readonly deliveryId: string;
}

export interface Settings {
  readonly webhookUrl: string | null;
  /** Credits, at most six decimals. */
  readonly lowBalanceThreshold: number;
  readonly webhookDisabled: {
    readonly at: string;
    readonly reason: string;
  } | null;
  readonly allowedJobTypes: readonly string[];
  readonly tenantId: string;
  readonly environment: 'sandbox' | 'production' | (string & {});
}

export interface SettingsChange {
  readonly webhookUrl?: string | null;
  readonly lowBalanceThreshold?: number;
}

export interface AtsApplicationPayload {
  readonly applicationUrl: string;
  readonly atsType: string;
  /** Passed on as sent; at most 64 levels deep. Nodes read it as described at `/docs/applicant-profile`. */
  readonly applicantProfile: Readonly<Record<string, unknown>>;
  readonly jobContext: {
    readonly title: string;
    readonly company: string;
    readonly [member: string]: unknown;
  };
}

export interface ListSubmissionsQuery {
  readonly status?: 'pending' | 'dispatched' | 'running' | 'submitted' | 'failed' | 'cancelled';
  readonly idempotencyKey?: string;
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly limit?: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
}

export interface ListTransactionsQuery {
  readonly type?: 'grant' | 'hold' | 'charge' | 'release' | 'rebate' | 'reversal';
  readonly submissionId?: string;
  readonly limit?: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
}

export interface AwaitPurchaseIntentQuery {
  readonly timeoutSeconds?: number;
}

export interface ListDeliveriesQuery {
  readonly status?: 'pending' | 'delivered' | 'exhausted' | 'dropped';
  readonly limit?: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
}

export interface SubmissionCompletedEvent {
  readonly id: string;
  /** RFC 3339, UTC, with milliseconds */
  readonly timestamp: string;
  readonly type: 'submission.completed';
  readonly data: {
    readonly submissionId: string;
    readonly jobType: string;
    readonly tier: 'standard' | 'priority' | 'instant';
    /** Credits, with at most six decimals */
    readonly actualCredits: number;
    /** Credits, with at most six decimals */
    readonly refundedCredits: number;
    readonly status: 'submitted';
  };
}

export interface SubmissionFailedEvent {
  readonly id: string;
  /** RFC 3339, UTC, with milliseconds */
  readonly timestamp: string;
  readonly type: 'submission.failed';
  readonly data: {
    readonly submissionId: string;
    readonly jobType: string;
    readonly tier: 'standard' | 'priority' | 'instant';
    /** Credits, with at most six decimals */
    readonly actualCredits: number;
    /** Credits, with at most six decimals */
    readonly refundedCredits: number;
    readonly status: 'failed';
    readonly failure: {
      readonly code: string;
      readonly message: string;
      readonly retriable: boolean;
      readonly outcomeUnknown: boolean;
    };
  };
}

export interface SubmissionCancelledEvent {
  readonly id: string;
  /** RFC 3339, UTC, with milliseconds */
  readonly timestamp: string;
  readonly type: 'submission.cancelled';
  readonly data: {
    readonly submissionId: string;
    readonly jobType: string;
    readonly tier: 'standard' | 'priority' | 'instant';
    /** Credits, with at most six decimals */
    readonly actualCredits: number;
    /** Credits, with at most six decimals */
    readonly refundedCredits: number;
    readonly status: 'cancelled';
    readonly by: 'tenant' | 'operator';
  };
}

export interface SubmissionLateOutcomeEvent {
  readonly id: string;
  /** RFC 3339, UTC, with milliseconds */
  readonly timestamp: string;
  readonly type: 'submission.late_outcome';
  readonly data: {
    readonly submissionId: string;
    readonly status: 'submitted' | 'failed';
    /** RFC 3339, UTC, with milliseconds */
    readonly at: string;
  };
}

export interface CreditsLowBalanceEvent {
  readonly id: string;
  /** RFC 3339, UTC, with milliseconds */
  readonly timestamp: string;
  readonly type: 'credits.low_balance';
  readonly data: {
    /** Credits, with at most six decimals */
    readonly balance: number;
    /** Credits, with at most six decimals */
    readonly available: number;
    /** Credits, with at most six decimals */
    readonly held: number;
    /** Credits, with at most six decimals */
    readonly threshold: number;
  };
}

export interface WebhookTestEvent {
  readonly id: string;
  /** RFC 3339, UTC, with milliseconds */
  readonly timestamp: string;
  readonly type: 'webhook.test';
  readonly data: Readonly<Record<string, unknown>>;
}

/** Every known event. The service may add types: acknowledge and ignore those you do not know. */
export type WebhookEvent =
  | SubmissionCompletedEvent
  | SubmissionFailedEvent
  | SubmissionCancelledEvent
  | SubmissionLateOutcomeEvent
  | CreditsLowBalanceEvent
  | WebhookTestEvent;
