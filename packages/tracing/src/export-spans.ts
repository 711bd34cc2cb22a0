import {
  createTraceState,
  type HrTime,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { PlacedSpan } from './span-data.ts';
import type { SpanKindName } from './steps.ts';
import type { TraceContext } from './trace-context.ts';

/** The time limit of one export. It includes the retries of the exporter. */
const exportTimeoutMs = 5_000;
/** The value of `ExportResultCode.SUCCESS` in OpenTelemetry. */
const exportSucceeded = 0;

export interface SpanExport {
  /**
   * Rejects if the export fails. Resolves if the collector refuses only a part of the spans (the
   * partial success of OTLP).
   */
  send(spans: readonly PlacedSpan[]): Promise<void>;
  close(): Promise<void>;
}

const kinds: Readonly<Record<SpanKindName, SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/**
 * Creates an export of spans over OTLP/HTTP as JSON. Import this module dynamically, because it
 * loads OpenTelemetry, which services without tracing do not need.
 */
export function createExport({
  endpoint,
  service,
  environment,
}: {
  readonly endpoint: string;
  readonly service: string;
  readonly environment: string;
}): SpanExport {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
    concurrencyLimit: 1,
  });
  const resource = resourceFromAttributes({
    'service.name': service,
    'service.namespace': 'svc',
    'deployment.environment.name': environment,
  });
  return {
    send: (spans) =>
      new Promise((resolve, reject) => {
        const readable = spans.map((span) => readableSpan(span, resource));
        exporter.export(readable, ({ code, error }) => {
          const result: number = code;
          if (result === exportSucceeded) resolve();
          else reject(error ?? new Error('the spans could not be exported'));
        });
      }),
    close: () => exporter.shutdown(),
  };
}

const instrumentationScope = { name: '@svc/tracing' };

function readableSpan(span: PlacedSpan, resource: ReadableSpan['resource']): ReadableSpan {
  const { name, kind, context, parent, startMs, endMs, error } = span;
  return {
    name,
    kind: kinds[kind],
    spanContext: () => spanContext(context, false),
    ...(parent === undefined ? {} : { parentSpanContext: spanContext(parent, true) }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(Math.max(0, endMs - startMs)),
    status: { code: error === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
    attributes: { ...span.attributes, ...(error === undefined ? {} : { 'error.type': error }) },
    links: span.links.map((link) => ({ context: spanContext(link, true) })),
    events: [],
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function spanContext(
  { traceId, spanId, tracestate }: TraceContext,
  isRemote: boolean,
): SpanContext {
  const own = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote };
  return tracestate === undefined ? own : { ...own, traceState: createTraceState(tracestate) };
}

function hrTime(ms: number): HrTime {
  const seconds = Math.trunc(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
}
