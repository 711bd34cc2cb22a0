import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { waitUntil } from '@svc/testkit';

export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly isError: boolean;
}

export interface Collector {
  readonly endpoint: string;
  readonly spans: readonly CollectedSpan[];
  readonly bodies: readonly string[];
  spansOf(
    submissionId: string,
    isEnough: (spans: readonly CollectedSpan[]) => boolean,
  ): Promise<readonly CollectedSpan[]>;
  close(): Promise<void>;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}
interface Attribute {
  readonly key: string;
  readonly value: Value;
}
interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly kind: number;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly traceState?: string;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes?: readonly Attribute[];
        readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
        readonly status?: { readonly code?: number };
      }[];
    }[];
  }[];
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(request);
    if (request.url === '/v1/traces') {
      bodies.push(text);
      spans.push(...spansIn(JSON.parse(text)));
    }
    response.setHeader('content-type', 'application/json').end('{}');
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const of = (id: string) => spans.filter(({ attributes }) => attributes['submission.id'] === id);
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    spans,
    bodies,
    async spansOf(submissionId, isEnough) {
      const what = `the spans of ${submissionId}`;
      await waitUntil(() => isEnough(of(submissionId)), { what, timeoutMs: 20_000 });
      return of(submissionId);
    },
    async close() {
      server.closeAllConnections();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function spansIn({ resourceSpans }: Exported): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans
      .flatMap((scope) => scope.spans)
      .map((span) => ({
        service,
        name: span.name,
        kind: span.kind,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        traceState: span.traceState,
        startNs: BigInt(span.startTimeUnixNano),
        endNs: BigInt(span.endTimeUnixNano),
        attributes: attributesOf(span.attributes ?? []),
        links: span.links ?? [],
        isError: span.status?.code === 2,
      }));
  });
}

function attributesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ??
        value.boolValue ??
        value.doubleValue ??
        (value.intValue === undefined ? undefined : Number(value.intValue)),
    ]),
  );
}
