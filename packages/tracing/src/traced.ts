import type { StepRef } from './steps.ts';
import type { SpanAttributes, Tracing } from './tracing.ts';

/**
 * Computes the attributes of a step from the result of its work. Returns null if the step must not
 * be recorded, for example because the work changed nothing.
 */
type AttributesOf<Result> = (result: Result) => SpanAttributes | null;

/**
 * Returns the result of `work`, or rejects with its error, and records the work as `step`. Records
 * nothing if the subject is not traced, or if `attributesOf` returns null.
 */
export function traced<Result>(
  tracing: Tracing,
  step: StepRef,
  work: () => Promise<Result>,
  attributesOf?: AttributesOf<Result>,
): Promise<Result> {
  return tracing.isTraced(step.subjectId) ? record(tracing, step, work, attributesOf) : work();
}

async function record<Result>(
  tracing: Tracing,
  step: StepRef,
  work: () => Promise<Result>,
  attributesOf: AttributesOf<Result> | undefined,
): Promise<Result> {
  const startMs = tracing.nowMs();
  try {
    const result = await work();
    const attributes = attributesOf === undefined ? {} : attributesOf(result);
    if (attributes !== null) tracing.record({ ...step, startMs, attributes });
    return result;
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown';
    tracing.record({ ...step, attempt: String(startMs), startMs, error: name });
    throw error;
  }
}
