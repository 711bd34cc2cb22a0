/**
 * A request with its answer, or an observation of a run. All times are milliseconds of one
 * monotonic clock.
 */
export type HistoryRecord =
  | CreateRecord
  | RejectRecord
  | CancelRecord
  | StatusRecord
  | BalanceRecord
  | GrantRecord
  | RebateRecord
  | UrlRecord
  | WebhookRecord
  | LineRecord
  | StatementRecord
  | RestRecord;

/** The times of an operation, which takes effect at one moment between `beginMs` and `endMs`. */
export interface Timed {
  readonly beginMs: number;
  /**
   * Null if no definite answer came. The operation may then have happened at any time after
   * `beginMs`, or never.
   */
  readonly endMs: number | null;
}

/** A request to create a submission under an idempotency key (CONTRACT 3). */
export interface CreateRecord extends Timed {
  readonly kind: 'create';
  readonly tenant: string;
  readonly key: string;
  /** Stands for the body of the request. Equal for two bodies that mean the same. */
  readonly body: string;
  readonly outcome: CreateOutcome;
}

export type CreateOutcome =
  /**
   * `answer` is a digest of the answer without its member `idempotent`. It is null if the
   * submission was created directly in the store, without a gateway.
   */
  | {
      readonly kind: 'created';
      readonly isReplay: boolean;
      readonly submissionId: string;
      readonly answer: string | null;
      readonly availableAfterMicros: bigint;
      readonly heldMicros: bigint;
    }
  /** The submission of this key was cancelled while it was pending. */
  | { readonly kind: 'ended'; readonly submissionId: string }
  /** `409 idempotency_key_conflict`: the key is in use with another body. */
  | { readonly kind: 'conflict' }
  /** The answer of the store itself, without a gateway: the key is in use. */
  | { readonly kind: 'taken' }
  /**
   * An error that the service decides only after it has looked up the key. It proves that the key
   * was free at some moment during the request.
   */
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'unknown' };

/** An attempt to reject a pending submission. A rejection frees the idempotency key. */
interface RejectRecord extends Timed {
  readonly kind: 'reject';
  readonly submissionId: string;
  readonly outcome: 'rejected' | 'not_rejected' | 'unknown';
}

interface CancelRecord extends Timed {
  readonly kind: 'cancel';
  readonly submissionId: string;
  readonly outcome:
    | {
        readonly kind: 'cancelled';
        readonly chargedMicros: bigint;
        readonly refundedMicros: bigint;
      }
    | { readonly kind: 'ended'; readonly status: Status; readonly chargedMicros: bigint | null }
    | { readonly kind: 'unknown' };
}

/**
 * The states inside the service. A tenant reads `running` instead of `settling`. If a read gets
 * `404`, it is recorded as `rejected`.
 */
export type Status =
  | 'pending'
  | 'dispatched'
  | 'running'
  | 'settling'
  | 'submitted'
  | 'failed'
  | 'cancelled'
  | 'rejected';

export interface StatusRecord {
  readonly kind: 'status';
  readonly submissionId: string;
  readonly status: Status;
  /** Null if the observer was not shown the charge. */
  readonly chargedMicros: bigint | null;
  /** The observer, such as `detail`, `list`, `webhook` or `node`. */
  readonly source: string;
  /**
   * `is`: the submission had this status at a moment between `beginMs` and `endMs`. `reached`: it
   * had this status at `endMs` or earlier.
   */
  readonly how: 'is' | 'reached';
  readonly beginMs: number;
  readonly endMs: number;
  /** True if the observer's own request ended the submission. */
  readonly endedIt?: boolean;
  /** The submission's idempotency key and tenant, if the observer was shown them. */
  readonly key?: string;
  readonly tenant?: string;
}

export interface BalanceRecord {
  readonly kind: 'balance';
  readonly tenant: string;
  readonly balanceMicros: bigint;
  readonly heldMicros: bigint;
  readonly beginMs: number;
  readonly endMs: number;
}

/** An operator's grant, idempotent by its reference. */
export interface GrantRecord extends Timed {
  readonly kind: 'grant';
  readonly tenant: string;
  readonly reference: string;
  readonly amountMicros: bigint;
  readonly outcome:
    | {
        readonly kind: 'granted';
        readonly isReplay: boolean;
        readonly availableAfterMicros: bigint;
      }
    | { readonly kind: 'unknown' };
}

/** A pay-out of the accrued rebate. */
interface RebateRecord extends Timed {
  readonly kind: 'rebate';
  readonly tenant: string;
  /** Null if the outcome is unknown. */
  readonly paidMicros: bigint | null;
}

/** A change of a tenant's webhook URL, or the creation of a tenant with a webhook URL. */
export interface UrlRecord extends Timed {
  readonly kind: 'url';
  readonly tenant: string;
  /** The new URL. Null if the change removed the URL. */
  readonly url: string | null;
}

/** One attempt of a delivery, as it arrived at an endpoint. */
export interface WebhookRecord {
  readonly kind: 'webhook';
  readonly tenant: string;
  readonly url: string;
  readonly eventId: string;
  readonly type: string;
  readonly submissionId: string | null;
  readonly atMs: number;
}

interface Movement {
  readonly tenant: string;
  readonly id: string;
  readonly type: string;
  readonly amountMicros: bigint;
  readonly balanceAfterMicros: bigint;
  readonly heldAfterMicros: bigint;
  readonly submissionId: string | null;
  readonly reference: string | null;
}

/** A row of the ledger. The history has the rows of each tenant in the order of the ledger. */
export interface LineRecord extends Movement {
  readonly kind: 'line';
}

export interface StatementRecord extends Movement {
  readonly kind: 'statement';
  readonly beginMs: number;
  readonly endMs: number;
}

/** At `atMs` nothing is in flight, and every endpoint has had the time to receive its events. */
export interface RestRecord {
  readonly kind: 'rest';
  readonly atMs: number;
}

export type History = readonly HistoryRecord[];

/** The result for one guarantee: the number of compared facts, and the contradictions. */
export interface Verdict {
  readonly guarantee: string;
  readonly count: number;
  readonly violations: readonly string[];
}

export type RecordOf<Kind extends HistoryRecord['kind']> = Extract<HistoryRecord, { kind: Kind }>;

export function recordsOf<Kind extends HistoryRecord['kind']>(
  history: History,
  kind: Kind,
): RecordOf<Kind>[] {
  const isWanted = (record: HistoryRecord): record is RecordOf<Kind> => record.kind === kind;
  return history.filter(isWanted);
}

/**
 * The latest moment at which an operation can have taken effect. Infinity if the operation got no
 * definite answer.
 */
export function latest({ endMs }: Timed): number {
  return endMs ?? Number.POSITIVE_INFINITY;
}

const endings: ReadonlySet<string> = new Set(['submitted', 'failed', 'cancelled', 'rejected']);

export function isEnding(status: Status): boolean {
  return endings.has(status);
}
