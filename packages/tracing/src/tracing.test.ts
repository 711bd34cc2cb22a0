import { expect, test } from 'vitest';
import { isTracedIn } from './sampling.ts';
import { createSpanBuffer, type SpanResult, spansWaitingMax } from './span-buffer.ts';
import type { EndedSpan } from './span-data.ts';
import { readTraceContext } from './trace-context.ts';
import { noTracing } from './tracing.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const valid = `00-${traceId}-${spanId}-01`;

test.each([
  ['version 00', valid],
  ['a later version with more members', `cc-${traceId}-${spanId}-01-what-follows`],
])('a valid traceparent is read: %s', (_, traceparent) => {
  expect(readTraceContext({ traceparent })).toEqual({ traceId, spanId });
});

test.each([
  ['version ff', `ff-${traceId}-${spanId}-01`],
  ['version 00 with more members', `${valid}-x`],
  ['no trace', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['no span', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['upper case', valid.toUpperCase()],
  ['two of them', `${valid}, ${valid}`],
  ['very long', `cc-${traceId}-${spanId}-01-${'x'.repeat(300)}`],
  ['empty', ''],
])('a malformed traceparent is ignored: %s', (_, traceparent) => {
  expect(readTraceContext({ traceparent, tracestate: 'a=1' })).toBeUndefined();
});

test.each([
  ['33 members', Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(',')],
  ['513 characters', `a=${'v'.repeat(200)},b=${'v'.repeat(200)},c=${'v'.repeat(105)}`],
  ['a control character', 'a=\u0007'],
  ['no value', 'a'],
])('a malformed tracestate is dropped alone: %s', (_, tracestate) => {
  expect(readTraceContext({ traceparent: valid, tracestate })).toEqual({ traceId, spanId });
});

const idOf = (digits: string): string => `01890a5d-ac96-774b-bcce-${digits}`;

test('the share of traced submissions is the ratio, by the random digits of their ids', () => {
  expect(isTracedIn(0.5, idOf('7fffffffffff'))).toBe(true);
  expect(isTracedIn(0.5, idOf('800000000000'))).toBe(false);
  expect(isTracedIn(0, idOf('000000000000'))).toBe(false);
  expect(isTracedIn(1, idOf('ffffffffffff'))).toBe(true);
});

test('spans beyond the limit are dropped and counted, and so are spans that are not exported', async () => {
  const counted = new Map<SpanResult, number>();
  const failures: unknown[] = [];
  const buffer = createSpanBuffer({
    loadExport: () => Promise.reject(new Error('no collector')),
    loadContexts: () => Promise.resolve(new Map()),
    count: (result, spans) => counted.set(result, (counted.get(result) ?? 0) + spans),
    onFailure: (error) => failures.push(error),
  });
  const span: EndedSpan = {
    name: 'hold',
    kind: 'client',
    belongs: { kind: 'own', traceId, spanId },
    startMs: 0,
    endMs: 1,
    attributes: {},
    error: undefined,
    links: [],
  };
  const inFlight = 512;
  for (let index = 0; index < inFlight + spansWaitingMax + 3; index += 1) buffer.add(span);
  await buffer.close();
  expect(Object.fromEntries(counted)).toEqual({
    buffer_full: 3,
    export_failed: inFlight + spansWaitingMax,
  });
  expect(failures).toHaveLength(1 + spansWaitingMax / inFlight);
});

test('tracing that is off traces nothing and has no headers', async () => {
  const subjectId = '01890a5d-ac96-774b-bcce-000000000000';
  expect(noTracing.isTraced(subjectId)).toBe(false);
  expect(await noTracing.headersOf({ step: 'deliver', subjectId })).toEqual({});
});
