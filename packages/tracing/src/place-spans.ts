import type { EndedSpan, PlacedSpan } from './span-data.ts';
import { ownTraceId, parentOf, spanIdOf, type StepRef } from './steps.ts';
import type { TraceContext } from './trace-context.ts';

/** The trace contexts that tenants sent, by the id of the submission. */
export type TenantContexts = ReadonlyMap<string, TraceContext>;

export function subjectsOf(spans: readonly EndedSpan[]): string[] {
  const ids = spans.flatMap(({ belongs, links }) => [
    ...(belongs.kind === 'step' ? [belongs.ref.subjectId] : []),
    ...links.map(({ subjectId }) => subjectId),
  ]);
  return [...new Set(ids)];
}

/**
 * The context of the span of a step. The span belongs to the tenant's trace if the tenant sent a
 * trace context. Otherwise it belongs to the subject's own trace.
 */
export function contextOf(ref: StepRef, contexts: TenantContexts): TraceContext {
  const tenants = contexts.get(ref.subjectId);
  const spanId = spanIdOf(ref);
  if (tenants === undefined) return { traceId: ownTraceId(ref.subjectId), spanId };
  return { ...tenants, spanId };
}

export function placeSpan(span: EndedSpan, contexts: TenantContexts): PlacedSpan {
  const { belongs, links, ...rest } = span;
  const placed = { ...rest, links: links.map((ref) => contextOf(ref, contexts)) };
  if (belongs.kind === 'own') {
    const { traceId, spanId, parent } = belongs;
    return { ...placed, context: { ...parent, traceId, spanId }, parent };
  }
  const { ref, isSubmission } = belongs;
  const parentRef = isSubmission ? parentOf(ref) : undefined;
  const parent =
    parentRef === undefined ? contexts.get(ref.subjectId) : contextOf(parentRef, contexts);
  return { ...placed, context: contextOf(ref, contexts), parent };
}
