/**
 * The answers of the service, as on the wire. Members may be added under `/v1` at any time, so
 * ignore those that you do not know. Amounts are credits with at most six decimals. Times are
 * RFC 3339 in UTC.
 */

export type Tier = 'standard' | 'priority' | 'instant';
export type SubmissionStatus =
  | 'pending'
  | 'dispatched'
  | 'running'
  | 'submitted'
  | 'failed'
  | 'cancelled';
export type TerminalStatus = 'submitted' | 'failed' | 'cancelled';

/** The payload of the job type `ats.application`. */
export interface AtsApplicationPayload {
  /** An http or https URL with a public host, at most 2048 characters. */
  readonly applicationUrl: string;
  readonly atsType: string;
  /** Passed to the node exactly as you send it. */
  readonly applicantProfile: Readonly<Record<string, unknown>>;
  readonly jobContext: {
    readonly title: string;
    readonly company: string;
    readonly [member: string]: unknown;
  };
}

export interface SubmissionRequest {
  /** 1 to 128 characters, derived from your own stored records, so that a repeat is safe. */
  readonly idempotencyKey: string;
  readonly jobType: string;
  /** Default: `standard`. */
  readonly tier?: Tier;
  readonly payload: AtsApplicationPayload | Readonly<Record<string, unknown>>;
}

export interface Quote {
  readonly estimated: number;
  /** The worst case. These credits are held. */
  readonly max: number;
  readonly surge: number;
}

export interface SubmissionCreated {
  readonly submissionId: string;
  readonly status: SubmissionStatus;
  readonly quote: Quote;
  readonly balance: { readonly after: number; readonly held: number };
  /** Present if the key was used before with the same body. Nothing was held again. */
  readonly idempotent?: true;
}

export interface Usage {
  readonly nodeSeconds?: number;
  readonly cpuSeconds?: number;
  readonly memoryGbSeconds?: number;
  readonly bandwidthMb?: number;
  readonly actions?: number;
}

export interface SubmissionFailure {
  readonly code: string;
  readonly message: string;
  /** True if the same job may succeed with a new idempotency key. */
  readonly retriable: boolean;
  /** True if the job may have been done. Check before you submit it again. */
  readonly outcomeUnknown: boolean;
}

export interface Submission {
  readonly id: string;
  readonly status: SubmissionStatus;
  readonly jobType: string;
  readonly tier: Tier;
  readonly idempotencyKey: string;
  readonly quote: Quote;
  /** Null until the submission is settled. */
  readonly actualCredits: number | null;
  readonly refundedCredits: number | null;
  readonly usage: Usage | null;
  readonly failure: SubmissionFailure | null;
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly lateOutcome: { readonly status: 'submitted' | 'failed'; readonly at: string } | null;
  readonly createdAt: string;
  readonly dispatchedAt: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export type EndedSubmission = Submission & { readonly status: TerminalStatus };

export interface Cancellation {
  readonly submissionId: string;
  readonly status: 'cancelled';
  readonly refund: { readonly amount: number; readonly charged: number };
}

export interface CreditBalance {
  readonly balance: number;
  readonly held: number;
  /** `balance - held` */
  readonly available: number;
  readonly rebateAccrued: number;
  readonly currency: 'credits';
  readonly usdPerCredit: number;
}

export interface Rate {
  readonly base: number;
  readonly min: number;
  readonly max: number;
  readonly tierMultiplier: number;
  /** Credits per unit of usage. */
  readonly weights: Usage;
}

export interface RateCard {
  readonly version: number;
  readonly surgeMultiplier: number;
  readonly usdPerCredit: number;
  readonly jobTypes: readonly {
    readonly jobType: string;
    readonly tiers: Readonly<Partial<Record<Tier, Rate>>>;
  }[];
}

export interface Readiness {
  readonly status: 'ready' | 'not_ready';
  readonly [member: string]: unknown;
}

interface Ended {
  readonly submissionId: string;
  readonly jobType: string;
  readonly tier: Tier;
  readonly actualCredits: number;
  readonly refundedCredits: number;
}

interface WebhookEventOf<Type extends string, Data> {
  readonly id: string;
  readonly type: Type;
  readonly timestamp: string;
  readonly data: Data;
}

/** More types may be added under `/v1`. Acknowledge and ignore those that you do not know. */
export type WebhookEvent =
  | WebhookEventOf<'submission.completed', Ended & { readonly status: 'submitted' }>
  | WebhookEventOf<
      'submission.failed',
      Ended & { readonly status: 'failed'; readonly failure: SubmissionFailure }
    >
  | WebhookEventOf<
      'submission.cancelled',
      Ended & { readonly status: 'cancelled'; readonly by: 'tenant' | 'operator' }
    >
  | WebhookEventOf<
      'submission.late_outcome',
      {
        readonly submissionId: string;
        readonly status: 'submitted' | 'failed';
        readonly at: string;
      }
    >
  | WebhookEventOf<
      'credits.low_balance',
      {
        readonly balance: number;
        readonly available: number;
        readonly held: number;
        readonly threshold: number;
      }
    >
  | WebhookEventOf<'webhook.test', Readonly<Record<string, never>>>;
