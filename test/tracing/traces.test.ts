import { fromWireId } from '@svc/domain';
import { sendSigned } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { application, connectNode, type Journey, shareStack } from '../support/journey.ts';
import { type CollectedSpan, type Collector, startCollector } from './collector.fixture.ts';

/** The traces of a live stack, as a collector receives them (decision 42). */

let collector: Collector;
const env: Record<string, string> = { OTEL_TRACES_SAMPLER: 'always_on' };

beforeAll(async () => {
  collector = await startCollector();
  env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.endpoint;
});
/**
 * The stack starts when a test calls `journey` for the first time. `beforeAll` has run by then, so
 * `env` has the address of the collector.
 */
const journey = shareStack({ env });
afterAll(() => collector.close());

const own = '4bf92f3577b34da6a3ce929d0e0e4736';
const ownSpan = '00f067aa0ba902b7';

async function create(
  { stack, tenant }: Journey,
  key: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const answer = await sendSigned({
    baseUrl: stack.gatewayUrl,
    method: 'POST',
    target: '/v1/submissions',
    tenantId: tenant.tenantId,
    secret: tenant.hmacSecret,
    body: application(key),
    headers: { 'content-type': 'application/json', ...headers },
  });
  expect(answer.status).toBe(201);
  return String(Reflect.get(Object(answer.json()), 'submissionId'));
}

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan[] =>
  spans.filter((span) => span.name === name);

/** The names of the span and of its ancestors, from the span to the root. */
function lineOf(spans: readonly CollectedSpan[], span: CollectedSpan | undefined): string[] {
  if (span === undefined) return [];
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [span.name, ...lineOf(spans, parent)];
}

const isDelivered = (attempts: number) => (spans: readonly CollectedSpan[]) =>
  named(spans, 'POST webhook').length === attempts &&
  named(spans, 'settle').length === 1 &&
  named(spans, 'POST /v1/submissions').length === 1 &&
  named(spans, 'store the outcome').length === 1 &&
  named(spans, 'process dispatch.v1').length === 1;

const root = 'POST /v1/submissions';

test("one trace has every step from the tenant's request to a retried delivery", async () => {
  const shared = await journey();
  const { receiver, stack } = shared;
  receiver.answerWith(({ attempt }) => ({ status: attempt === 1 ? 503 : 204 }));
  const node = await connectNode(shared, { slots: 32 });
  node.autoPilot();
  const id = await create(shared, 'tree', {
    traceparent: `00-${own}-${ownSpan}-00`,
    tracestate: 'vendor=a1,other@x=2',
  });
  const first = await receiver.waitFor(({ attempt }) => attempt === 1);
  await stack.advanceClock(10_000);
  const second = await receiver.waitFor(({ attempt }) => attempt === 2, { timeoutMs: 20_000 });
  const spans = await collector.spansOf(id, isDelivered(2));

  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([own]));
  expect(new Set(spans.map(({ service }) => service))).toEqual(
    new Set(['gateway', 'dispatcher', 'settlement', 'webhooks']),
  );
  const lines = spans.map((span) => lineOf(spans, span).join(' < ')).toSorted();
  expect(lines).toEqual(
    [
      root,
      `hold credits < ${root}`,
      `send dispatch.v1 < ${root}`,
      `process dispatch.v1 < send dispatch.v1 < ${root}`,
      `offer to a node < process dispatch.v1 < send dispatch.v1 < ${root}`,
      `commit the accept < offer to a node < process dispatch.v1 < send dispatch.v1 < ${root}`,
      `commit the begin < ${root}`,
      `run on the node < ${root}`,
      `store the outcome < ${root}`,
      `settle < ${root}`,
      `POST webhook < ${root}`,
      `POST webhook < ${root}`,
    ].toSorted(),
  );
  const [request] = named(spans, root);
  expect(request).toMatchObject({
    parentSpanId: ownSpan,
    traceState: 'vendor=a1,other@x=2',
    kind: 2,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/submissions',
      'http.response.status_code': 201,
      'svc.tenant.id': shared.tenant.tenantId,
    },
  });
  expect(spans.every(({ startNs, endNs }) => startNs <= endNs)).toBe(true);

  const attempts = named(spans, 'POST webhook');
  expect(attempts.filter(({ isError }) => isError)).toHaveLength(1);
  expect(new Set(attempts.map(({ spanId }) => `00-${own}-${spanId}-01`))).toEqual(
    new Set([first, second].map(({ headers }) => headers['traceparent'])),
  );
  expect(second.headers['tracestate']).toBe('vendor=a1,other@x=2');
});

test('hostile trace headers are ignored, and the trace id is then the id of the submission', async () => {
  const shared = await journey();
  const node = await connectNode(shared, { slots: 32 });
  node.autoPilot();
  const hostile: Record<string, string>[] = [
    { traceparent: `00-${'0'.repeat(32)}-${ownSpan}-01` },
    { traceparent: `00-${own}-${ownSpan}-01-extra` },
    { traceparent: `00-${own.toUpperCase()}-${ownSpan}-01`, tracestate: 'x=1' },
    { traceparent: 'a'.repeat(5_000), tracestate: 'b'.repeat(5_000) },
    { traceparent: '', baggage: `offered=yes,${'offered=yes,'.repeat(800)}` },
    { traceparent: `00-${own}-${ownSpan}-01, 00-${own}-${ownSpan}-01` },
  ];
  const creations = hostile.map((headers, index) => create(shared, `hostile ${index}`, headers));
  for (const id of await Promise.all(creations)) {
    const spans = await collector.spansOf(id, isDelivered(1));
    const uuid = fromWireId('sub', id)?.replaceAll('-', '');
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([uuid]));
    expect(named(spans, root).map(({ parentSpanId }) => parentSpanId ?? '')).toEqual(['']);
    const delivered = await shared.receiver.waitFor(({ body }) => body.includes(id));
    expect(delivered.headers).not.toHaveProperty('baggage');
  }
});

test('a batch has its own span, with links to the spans of its members', async () => {
  const shared = await journey();
  const node = await connectNode(shared, { slots: 32 });
  node.autoPilot();
  const creations = Array.from({ length: 24 }, (_, index) => create(shared, `batch ${index}`));
  const ids = await Promise.all(creations);
  for (const id of ids) await collector.spansOf(id, isDelivered(1));
  const batches = collector.spans.filter(({ links }) => links.length > 0);
  const names = new Set(batches.map(({ name }) => name));
  expect(names).toContain('hold batch');
  expect(names).toContain('process dispatch.v1 batch');
  expect(names).toContain('claim deliveries batch');
  expect(names).toContain('settle batch');
  const known = new Set(collector.spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
  const dangling = batches.flatMap(({ name, links }) =>
    links.filter(({ traceId, spanId }) => !known.has(`${traceId} ${spanId}`)).map(() => name),
  );
  expect(dangling).toEqual([]);
});

test('no span has personal data, a payload, a secret or a URL', () => {
  const { bodies } = collector;
  expect(bodies.length).toBeGreaterThan(0);
  for (const forbidden of [
    'Pérez',
    'example.com',
    'hsk_',
    'http:',
    'Welder',
    '127.0.0.1',
    'offered',
  ]) {
    expect(bodies.filter((body) => body.includes(forbidden))).toEqual([]);
  }
});

test('the metric of each service counts the exported spans, and none was dropped', async () => {
  const { stack } = await journey();
  const response = await fetch(`${stack.adminUrl('dispatcher')}/metrics`);
  const metrics = await response.text();
  const lines = metrics.split('\n').filter((line) => line.startsWith('svc_trace_spans_total{'));
  expect(lines).toEqual([expect.stringMatching(/result="exported"[^}]*\} [1-9]/)]);
});
