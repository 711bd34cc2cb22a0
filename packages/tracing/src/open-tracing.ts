import { toWireId } from '@svc/domain';
import { boundedAttributes } from './attributes.ts';
import { atMostEvery, loadOnce, wallClock, within } from './bounds.ts';
import { contextOf, type TenantContexts } from './place-spans.ts';
import { newRoot, traceRequest } from './request-trace.ts';
import { isTracedIn } from './sampling.ts';
import { followStatements } from './shared-statements.ts';
import { createSpanBuffer, type SpanResult } from './span-buffer.ts';
import type { EndedSpan } from './span-data.ts';
import { type StepRef, steps } from './steps.ts';
import { type TraceContext, traceparentOf } from './trace-context.ts';
import type { BatchSpan, StepSpan, Tracing } from './tracing.ts';

interface TracingOptions {
  /** The base URL of the collector, without `/v1/traces`. */
  readonly endpoint: string;
  readonly service: string;
  readonly environment: string;
  /**
   * The share of submissions that are traced, from 0 to 1. The same share applies to requests that
   * do not create a submission, and to events that do not belong to a submission.
   */
  readonly ratio: number;
  readonly clock: { nowMs(): number; monotonicMs(): number };
  /**
   * Returns a random number, at least 0 and less than 1, as `Math.random` does. The number decides
   * whether a request that does not create a submission is traced.
   */
  readonly random: () => number;
  readonly storeContext: (submissionId: string, context: TraceContext) => Promise<void>;
  readonly loadContexts: (submissionIds: readonly string[]) => Promise<TenantContexts>;
  readonly countSpans: (result: SpanResult, spans: number) => void;
  /**
   * Called with the error if an export of spans fails, or if a trace context cannot be stored or
   * loaded. Called at most once a minute.
   */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The most time that a request waits to store the context of its submission, or that a webhook
 * waits to load it.
 */
const contextTimeoutMs = 250;
const linksMax = 128;
const failureIntervalMs = 60_000;

/** Starts tracing. OpenTelemetry is loaded in the background, when the first spans are exported. */
export function openTracing(options: TracingOptions): Tracing {
  const { ratio, storeContext, loadContexts, random } = options;
  const onFailure = atMostEvery(failureIntervalMs, options.onFailure);
  const nowMs = wallClock(options.clock);
  const buffer = createSpanBuffer({
    loadExport: loadOnce(async () => {
      const { createExport } = await import('./export-spans.ts');
      return createExport(options);
    }),
    loadContexts,
    count: options.countSpans,
    onFailure,
  });
  const isTraced = (subjectId: string): boolean => isTracedIn(ratio, subjectId);

  function add(span: EndedSpan): void {
    buffer.add({ ...span, attributes: boundedAttributes(span.attributes) });
  }

  const recordBatch = (batch: BatchSpan): void => {
    const span = batchSpan(batch, isTraced, nowMs);
    if (span !== undefined) add(span);
  };
  const stopStatements = followStatements(({ durationMs, ...batch }) => {
    const endMs = nowMs();
    recordBatch({ ...batch, startMs: endMs - durationMs, endMs });
  });

  return {
    isOn: true,
    isTraced,
    nowMs,
    recordBatch,
    record(span) {
      if (isTraced(span.subjectId)) add(stepSpan(span, nowMs));
    },
    request(headers) {
      return traceRequest(headers, {
        isTraced,
        isRequestTraced: () => random() < ratio,
        async storeContext(submissionId, context) {
          try {
            await within(contextTimeoutMs, storeContext(submissionId, context));
          } catch (error) {
            onFailure(error);
          }
        },
        nowMs,
        add,
      });
    },
    async headersOf(ref: StepRef) {
      if (!isTraced(ref.subjectId)) return {};
      try {
        const contexts = await within(contextTimeoutMs, loadContexts([ref.subjectId]));
        return headersOfContext(contextOf(ref, contexts));
      } catch (error) {
        onFailure(error);
        return {};
      }
    },
    async close() {
      stopStatements();
      await buffer.close();
    },
  };
}

function stepSpan(
  { isSubmission = true, startMs, endMs, attributes, error, ...ref }: StepSpan,
  nowMs: () => number,
): EndedSpan {
  const { name, kind, attributes: ofStep } = steps[ref.step];
  const known = isSubmission ? { 'submission.id': toWireId('sub', ref.subjectId) } : {};
  return {
    name,
    kind,
    belongs: { kind: 'step', ref, isSubmission },
    startMs,
    endMs: endMs ?? nowMs(),
    attributes: { ...ofStep, ...known, ...attributes },
    error,
    links: [],
  };
}

function batchSpan(
  { name, kind, members, startMs, endMs, attributes, error }: BatchSpan,
  isTraced: (subjectId: string) => boolean,
  nowMs: () => number,
): EndedSpan | undefined {
  if (members.length < 2) return undefined;
  const links = members.filter(({ subjectId }) => isTraced(subjectId)).slice(0, linksMax);
  if (links.length === 0) return undefined;
  return {
    name,
    kind,
    belongs: { kind: 'own', ...newRoot() },
    startMs,
    endMs: endMs ?? nowMs(),
    attributes: { ...attributes, 'svc.batch.members': members.length },
    error,
    links,
  };
}

function headersOfContext(context: TraceContext): Readonly<Record<string, string>> {
  const traceparent = traceparentOf(context);
  const { tracestate } = context;
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}
