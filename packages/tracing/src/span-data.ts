import type { SpanKindName, StepRef } from './steps.ts';
import type { TraceContext } from './trace-context.ts';
import type { SpanAttributes } from './tracing.ts';

/**
 * The trace of a span, and the span's place in it. A step has no trace id here: the id depends on
 * the trace context that the tenant sent with the submission. `placeSpan` adds it.
 */
type Belongs =
  /**
   * A step of a submission, or of an event if `isSubmission` is false. A step of a submission can
   * have another step as its parent (`parentOf`). A step of an event has none.
   */
  | { readonly kind: 'step'; readonly ref: StepRef; readonly isSubmission: boolean }
  /**
   * A span that is not a step. Its `spanId` is random. If a request came with a trace context, the
   * span of the request has this context as `parent`, and has the same `traceId`.
   */
  | {
      readonly kind: 'own';
      readonly traceId: string;
      readonly spanId: string;
      readonly parent?: TraceContext | undefined;
    };

export interface EndedSpan {
  readonly name: string;
  readonly kind: SpanKindName;
  readonly belongs: Belongs;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  readonly error: string | undefined;
  readonly links: readonly StepRef[];
}

export interface PlacedSpan extends Omit<EndedSpan, 'belongs' | 'links'> {
  readonly context: TraceContext;
  readonly parent: TraceContext | undefined;
  readonly links: readonly TraceContext[];
}
