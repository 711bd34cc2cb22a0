import type { SpanKindName, StepRef } from './steps.ts';
import type { TraceContext } from './trace-context.ts';
import type { SpanAttributes } from './tracing.ts';

/**
 * The place of a span in its trace, as far as it is known before the tenants' trace contexts are
 * loaded.
 */
type Belongs =
  /**
   * A step of a subject. `isSubmission` is false if the subject is an event. The event is then
   * about no submission, or cannot be decrypted. A span of an event has no step as its parent.
   */
  | { readonly kind: 'step'; readonly ref: StepRef; readonly isSubmission: boolean }
  /**
   * A span that is not a step. Its `spanId` is random. `parent` is the context of the caller, if
   * there is one, and `traceId` is then that of the caller.
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
