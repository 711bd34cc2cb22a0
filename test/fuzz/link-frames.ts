import { toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import * as fc from 'fast-check';

/**
 * Generates frames for the node link: valid ones, changed ones and random bytes. The submission ids
 * are unknown, or those of jobs that other nodes run.
 */

export interface HostileFrame {
  readonly data: string | Uint8Array;
  readonly isBinary: boolean;
}

export interface Visit {
  readonly before: readonly HostileFrame[];
  readonly hello: HostileFrame;
  readonly after: readonly HostileFrame[];
}

const usages = fc.oneof(
  fc.constant({}),
  fc.record(
    {
      nodeSeconds: fc.double({ min: 0, max: 1e12, noNaN: true }),
      cpuSeconds: fc.double({ min: 0, max: 1e12, noNaN: true }),
      memoryGbSeconds: fc.constantFrom(0, 1e-9, 1e12, 5e-324),
      bandwidthMb: fc.integer({ min: 0, max: 10 }),
      actions: fc.integer({ min: 0, max: 1_000 }),
    },
    { requiredKeys: [] },
  ),
);

const details = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), {
  maxKeys: 4,
});

/** The ids and receipts in the generated frames. */
export interface Named {
  /** Jobs of honest nodes. */
  readonly submissionIds: () => readonly string[];
  /** Receipts of honest nodes. If there are none, the frames of a recovery are left out. */
  readonly receipts: () => readonly string[];
}

/** The offer ids in these frames belong to no offer. */
function validFrames({ submissionIds, receipts }: Named) {
  const submissionId = fc.nat().map((pick) => {
    const known = submissionIds();
    const index = pick % (known.length + 1);
    return known[index] ?? toWireId('sub', newId());
  });
  const offerId = fc.constantFrom('ofr_01kajh8z2wf5xav9c3q7m4n6rt', 'ofr_', 'x');
  const failure = fc.record({
    code: fc.constantFrom('captcha', 'node_error', 'ats_rejected'),
    message: fc.string({ maxLength: 64 }),
  });
  const result = fc.record(
    {
      confirmationId: fc.constantFrom('A-1', 'é', 'x'.repeat(256)),
      confirmationUrl: fc.constant('https://a.example/thanks'),
      details,
    },
    { requiredKeys: [] },
  );
  const receipt = fc.oneof(
    fc.nat().map((pick) => receipts()[pick % receipts().length] ?? ''),
    fc.tuple(fc.nat(), fc.nat()).map(([pick, at]) => {
      const known = receipts()[pick % receipts().length] ?? '';
      return `${known.slice(0, at % (known.length + 1))}A${known.slice((at + 1) % known.length)}`;
    }),
    fc.constantFrom('', 'x', 'A'.repeat(4_096)),
  );
  const ofRecovery = [
    fc.record({ type: fc.constant('report'), submissionId, receipt, begun: fc.boolean() }),
    fc.record({ type: fc.constant('reported') }),
  ];
  return fc.oneof(
    ...(receipts().length === 0 ? [] : ofRecovery),
    fc.record({ type: fc.constant('accept'), offerId }),
    fc.record({
      type: fc.constant('decline'),
      offerId,
      reason: fc.constantFrom('busy', 'policy'),
    }),
    fc.record({ type: fc.constant('start'), submissionId }),
    fc.record({ type: fc.constant('usage'), submissionId, usage: usages }),
    fc.record({ type: fc.constant('completed'), submissionId, usage: usages, result }),
    fc.record({ type: fc.constant('failed'), submissionId, usage: usages, failure }),
    fc.record({ type: fc.constant('stopped'), submissionId, usage: usages }),
    fc.record({ type: fc.constant('drain') }),
  );
}

/** A `hello` without slots. The node then gets no offers, and jobs go to honest nodes. */
function hellos(submissionIds: () => readonly string[]) {
  return fc.record(
    {
      type: fc.constant('hello'),
      agentVersion: fc.constantFrom('1.0.0', 'x'),
      instanceId: fc.constantFrom('a', 'b-1'),
      jobTypes: fc.constantFrom<string[]>([], ['no.such'], ['ats.application']),
      executors: fc.constant([{ jobType: 'ats.application', name: 'fuzz', version: '1' }]),
      slots: fc.constant(0),
      running: fc.array(
        fc.nat().map((pick) => submissionIds()[pick] ?? toWireId('sub', newId())),
        { maxLength: 20 },
      ),
    },
    { requiredKeys: ['type', 'agentVersion', 'jobTypes', 'slots', 'running'] },
  );
}

const oddValues = fc.constantFrom<unknown>(
  null,
  true,
  -1,
  1e308,
  '',
  '\0',
  '\ud800',
  'x'.repeat(70_000),
  [],
  {},
  [[[[]]]],
  { kind: 'completed', usage: { actions: 1e12 }, code: 'x' },
  { toString: 1, constructor: 1, length: -1 },
);
const oddNames = fc.constantFrom(
  'type',
  'submissionId',
  'offerId',
  'usage',
  'result',
  'failure',
  'reason',
  'running',
  'slots',
  'kind',
  'receipt',
  'begun',
  'nodeId',
  'constructor',
  'toJSON',
  '\0',
);

/** A member with thousands of nested arrays. They may overflow the stack of a recursive parser. */
const deepMember = `"details":{"a":${'['.repeat(4_400)}${']'.repeat(4_400)}}`;

/**
 * Changes of the text of a frame. Most of them cannot be made by a change of the frame's members.
 */
const rawEdits = fc.constantFrom<(text: string) => string>(
  (text) => text.slice(0, -1),
  (text) => `${text}${text}`,
  (text) => `[${text}]`,
  (text) => `\ufeff${text}`,
  (text) => text.replace('{', '{"type":"hello",'),
  (text) => text.replace('{', '{"__proto__":{"type":"drain"},'),
  (text) => text.replace('{', `{"a":${'['.repeat(4_400)}${']'.repeat(4_400)},`),
  (text) => text.replace('{', `{"a":${'{"b":'.repeat(20_000)}`),
  (text) => text.replace('{', `{"a":${'['.repeat(30)}${']'.repeat(30)},`),
  (text) => text.replace(/"(?=[^"]*"\s*[,}])/, '"\\u0000'),
  (text) => text.replace(/"(?=[^"]*"\s*[,}])/, '"\\udc00'),
  (text) => text.replace(/\d+/, '1e999'),
  () => `{"type":"completed","submissionId":"sub_x","usage":{},"result":{${deepMember}}}`,
  (text) => text.replaceAll(',', ' ,\n'),
  () => '',
  () => 'null',
  () => '['.repeat(100_000),
  () => `"${'x'.repeat(300_000)}"`,
);

type Edit = (frame: Record<string, unknown>) => unknown;

const memberEdits: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(oddNames, oddValues).map(([name, value]): Edit => (frame) => ({
    ...frame,
    [name]: value,
  })),
  oddNames.map(
    (name): Edit =>
      (frame) =>
        Object.fromEntries(Object.entries(frame).filter(([member]) => member !== name)),
  ),
  fc.tuple(oddNames, oddValues).map(([name, value]): Edit => (frame) => {
    const usage = typeof frame['usage'] === 'object' ? frame['usage'] : {};
    return { ...frame, usage: { ...usage, [name]: value, actions: value } };
  }),
  oddValues.map((value): Edit => (frame) => ({
    ...frame,
    result: { confirmationId: value, confirmationUrl: value, details: value },
  })),
  oddValues.map((value): Edit => (frame) => ({
    ...frame,
    failure: { code: 'captcha', message: value, kind: value },
  })),
);

function textFrame(data: string): HostileFrame {
  return { data, isBinary: false };
}

function spoiled(valid: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<HostileFrame> {
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .tuple(valid, memberEdits)
        .map(([frame, edit]) => textFrame(JSON.stringify(edit(frame)) ?? '')),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(valid, rawEdits)
        .map(([frame, edit]) => textFrame(edit(JSON.stringify(frame)))),
    },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ maxLength: 64 }).map((data) => ({ data, isBinary: true })),
    },
    {
      weight: 1,
      arbitrary: fc.constant({ data: Uint8Array.of(0x22, 0xff, 0xfe, 0x22), isBinary: false }),
    },
  );
}

function asText(frame: unknown): HostileFrame {
  return textFrame(JSON.stringify(frame));
}

/**
 * Generates the frames of one link. After `hello`, the valid frames come first, because the third
 * invalid frame closes the link.
 */
export function visits(named: Named, framesPerVisit: number): fc.Arbitrary<Visit> {
  const valid: fc.Arbitrary<Record<string, unknown>> = validFrames(named);
  const hello: fc.Arbitrary<Record<string, unknown>> = hellos(named.submissionIds);
  const honestHello = hello.map(asText);
  return fc.record({
    before: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc.array(fc.oneof(valid.map(asText), spoiled(valid)), { maxLength: 3 }),
      },
    ),
    hello: fc.oneof(
      { weight: 9, arbitrary: honestHello },
      { weight: 1, arbitrary: spoiled(hello) },
    ),
    after: fc
      .tuple(
        fc.array(valid.map(asText), {
          minLength: framesPerVisit - 8,
          maxLength: framesPerVisit - 4,
        }),
        fc.array(spoiled(fc.oneof(valid, hello)), { minLength: 4, maxLength: 4 }),
      )
      .map(([first, then]) => [...first, ...then]),
  });
}
