import type { StepRef } from './steps.ts';
import type { OfferedHeaders } from './trace-context.ts';

/**
 * The attributes of a span. A text is cut to 256 characters. An undefined attribute is left out.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * The times, the attributes and the error of a span. The times are Unix time in milliseconds,
 * usually from `Tracing.nowMs`.
 */
interface Took {
  readonly startMs: number;
  /** The default is the current time. */
  readonly endMs?: number;
  readonly attributes?: SpanAttributes;
  /** A short name of the failure, such as `aborted` or `500`. Undefined if nothing failed. */
  readonly error?: string | undefined;
}

export interface StepSpan extends StepRef, Took {
  /** False if `subjectId` is the UUID of an event. The default is true. */
  readonly isSubmission?: boolean;
}

/**
 * Work that was done once for several steps (`members`), such as a queue job or an SQL statement.
 * Its span has links to the spans of the traced steps, at most 128 links.
 */
export interface BatchSpan extends Took {
  readonly name: string;
  readonly kind: 'client' | 'consumer';
  readonly members: readonly StepRef[];
}

export interface RequestEnd {
  readonly method: string;
  /** The pattern of the route. Undefined if the request reached no endpoint. */
  readonly route: string | undefined;
  /** Undefined if no answer was sent. */
  readonly status: number | undefined;
  readonly tenantId: string | undefined;
  /**
   * The wire id of the submission that a successful answer is about. Undefined if the request was
   * refused, or if the answer is not about one submission.
   */
  readonly submissionId: string | undefined;
}

export interface RequestTrace {
  /**
   * Call this when the request has created the submission. Stores the tenant's trace context if the
   * submission is traced. Waits at most 250 ms. Never rejects.
   */
  created(submissionId: string): Promise<void>;
  end(end: RequestEnd): void;
}

/**
 * Records the spans of one service. No method throws or rejects. Only `close` waits for the
 * collector.
 */
export interface Tracing {
  readonly isOn: boolean;
  /**
   * True if the steps with this `StepRef.subjectId` are recorded. Services with the same sampler
   * take the same decision.
   */
  isTraced(subjectId: string): boolean;
  /** Unix time in milliseconds, with fractions; 0 if tracing is off. */
  nowMs(): number;
  request(headers: OfferedHeaders): RequestTrace;
  /** Records a step if its submission or event is traced. */
  record(span: StepSpan): void;
  /** Records a batch, if it has two or more `members` and at least one of them is traced. */
  recordBatch(span: BatchSpan): void;
  /**
   * Returns headers with which another server continues the step's trace. Empty if the step is not
   * traced, or if its context cannot be loaded in time.
   */
  headersOf(ref: StepRef): Promise<Readonly<Record<string, string>>>;
  /** Exports the recorded spans. Waits for the collector at most 1.5 s. */
  close(): Promise<void>;
}

const noHeaders = Promise.resolve({});
const nothing = Promise.resolve();
const noRequest: RequestTrace = { created: () => nothing, end() {} };

/** Tracing that is off. It loads and records nothing. */
export const noTracing: Tracing = {
  isOn: false,
  isTraced: () => false,
  nowMs: () => 0,
  request: () => noRequest,
  record() {},
  recordBatch() {},
  headersOf: () => noHeaders,
  close: () => nothing,
};
