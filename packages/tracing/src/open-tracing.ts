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
import type { BatchSpan, Tracing } from './tracing.ts';

interface TracingOptions {
  /** The base URL of the collector, without `/v1/traces`. */
  readonly endpoint: string;
  readonly service: string;
  readonly environment: string;
  /** The share of submissions that are traced, from 0 to 1. */
  readonly ratio: number;
  readonly clock: { nowMs(): number; monotonicMs(): number };
  /** A random number from 0 to 1. Decides about requests that create no submission. */
  readonly random: () => number;
  /** Stores the context that a tenant sent with a submission. */
  readonly storeContext: (submissionId: string, context: TraceContext) => Promise<void>;
  readonly loadContexts: (submissionIds: readonly string[]) => Promise<TenantContexts>;
  readonly countSpans: (result: SpanResult, spans: number) => void;
  /** Called if the collector or the database failed. At most once a minute. */
  readonly onFailure: (error: unknown) => void;
}

/** A request or a webhook waits this long for the context of its submission. */
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
    const links = batch.members.filter(({ subjectId }) => isTraced(subjectId));
    if (links.length === 0 || batch.members.length < 2) return;
    const { name, kind, startMs, endMs = nowMs(), error } = batch;
    const attributes = { ...batch.attributes, 'svc.batch.members': batch.members.length };
    const belongs = { kind: 'own', ...newRoot() } as const;
    const bounded = links.slice(0, linksMax);
    add({ name, kind, belongs, startMs, endMs, attributes, error, links: bounded });
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
    record({ isSubmission = true, startMs, endMs = nowMs(), ...rest }) {
      const { step, subjectId, key, attempt } = rest;
      if (!isTraced(subjectId)) return;
      const { name, kind, attributes } = steps[step];
      const known = isSubmission ? { 'submission.id': toWireId('sub', subjectId) } : {};
      add({
        name,
        kind,
        belongs: { kind: 'step', ref: { step, subjectId, key, attempt }, isSubmission },
        startMs,
        endMs,
        attributes: { ...attributes, ...known, ...rest.attributes },
        error: rest.error,
        links: [],
      });
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
        const context = contextOf(ref, contexts);
        const traceparent = traceparentOf(context);
        const { tracestate } = context;
        return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
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
