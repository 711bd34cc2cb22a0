import { describe, expect, test } from 'vitest';
import {
  assignFrameText,
  assignPayloadText,
  parseFrameFromNode,
  parseFrameToNode,
} from './index.ts';

const submissionId = 'sub_01kajh8z2wf5xav9c3q7m4n6rt';
const offerId = 'ofr_01kajh8z2wf5xav9c3q7m4n6rt';
const usage = { nodeSeconds: 1.25, actions: 3 };

const fromNode: readonly object[] = [
  {
    type: 'hello',
    agentVersion: '1.0.0',
    jobTypes: ['ats.application'],
    slots: 1,
    running: [submissionId],
  },
  {
    type: 'hello',
    agentVersion: '1.0.0',
    jobTypes: [],
    sandboxOnly: true,
    slots: 1,
    running: [],
  },
  { type: 'accept', offerId },
  { type: 'decline', offerId, reason: 'busy' },
  { type: 'start', submissionId },
  { type: 'usage', submissionId, usage },
  { type: 'completed', submissionId, usage, result: { confirmationId: 'A-1', details: { a: 1 } } },
  { type: 'failed', submissionId, usage, failure: { code: 'captcha', message: 'a captcha' } },
  {
    type: 'failed',
    submissionId,
    usage,
    failure: { code: 'node_error', message: 'cut off', submitted: false, retriable: true },
  },
  { type: 'stopped', submissionId, usage: {} },
  { type: 'drain' },
];

const toNode: readonly object[] = [
  { type: 'welcome', nodeId: 'nod_01kajh8z2wf5xav9c3q7m4n6rt', heartbeatSeconds: 5, stop: [] },
  {
    type: 'offer',
    offerId,
    submissionId,
    jobType: 'ats.application',
    tier: 'instant',
    targetHost: 'jobs.example.com',
    maxNodeSeconds: 300,
    expiresInMs: 2000,
    requestId: 'r-1',
  },
  { type: 'assign', offerId, submissionId, payload: { applicationUrl: 'https://a.example/' } },
  { type: 'revoke', offerId },
  { type: 'begin', submissionId },
  { type: 'ack', submissionId },
  { type: 'cancel', submissionId },
  { type: 'error', code: 'invalid_frame', message: 'no' },
];

function failedSaying(message: string): string {
  const failure = { code: 'node_error', message };
  return JSON.stringify({ type: 'failed', submissionId, usage: {}, failure });
}

function completedWith(result: object): string {
  return completedText(JSON.stringify(result));
}

function completedText(result: string): string {
  return `{"type":"completed","submissionId":"${submissionId}","usage":{},"result":${result}}`;
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe('frames', () => {
  test.each(fromNode)('from a node are parsed as sent: %o', (frame) => {
    expect(parseFrameFromNode(JSON.stringify(frame))).toEqual({ kind: 'frame', frame });
  });

  test.each(toNode)('from the service are parsed as sent: %o', (frame) => {
    expect(parseFrameToNode(JSON.stringify(frame))).toEqual({ kind: 'frame', frame });
  });

  test.each([
    ['{', 'malformed_frame'],
    ['[]', 'malformed_frame'],
    ['{"offerId":"x"}', 'malformed_frame'],
    ['{"type":"browse"}', 'unknown_type'],
    ['{"type":"__proto__"}', 'unknown_type'],
    ['{"type":"welcome"}', 'unknown_type'],
    ['{"type":"accept"}', 'invalid_frame'],
    ['{"type":"decline","offerId":"x","reason":"tired"}', 'invalid_frame'],
    ['{"type":"usage","submissionId":"x","usage":{"actions":-1}}', 'invalid_frame'],
    ['{"type":"usage","submissionId":"x","usage":{"actions":1e400}}', 'invalid_frame'],
    ['{"type":"usage","submissionId":"x","usage":{"actions":"1"}}', 'invalid_frame'],
    [
      '{"type":"failed","submissionId":"x","usage":{},"failure":{"code":"node_lost","message":""}}',
      'invalid_frame',
    ],
    [
      '{"type":"failed","submissionId":"x","usage":{},"failure":{"code":"node_error","message":"","submitted":"no"}}',
      'invalid_frame',
    ],
    [
      '{"type":"hello","agentVersion":"x","jobTypes":[],"slots":1,"running":[],"sandboxOnly":"yes"}',
      'invalid_frame',
    ],
  ])('that are bad get their own code and are never quoted: %s', (text, code) => {
    const parsed = parseFrameFromNode(text);
    expect(parsed).toMatchObject({ kind: 'bad', code });
    expect(JSON.stringify(parsed)).not.toContain('tired');
  });

  test('the length of a failure message is counted in code points', () => {
    expect(parseFrameFromNode(failedSaying('😀'.repeat(512))).kind).toBe('frame');
    expect(parseFrameFromNode(failedSaying('😀'.repeat(513))).kind).toBe('bad');
  });

  test('a result over 16 KiB is refused', () => {
    const overhead = '{"details":{"a":""}}'.length;
    const longest = 'x'.repeat(16 * 1024 - overhead);
    expect(parseFrameFromNode(completedWith({ details: { a: longest } })).kind).toBe('frame');
    expect(parseFrameFromNode(completedWith({ details: { a: `${longest}x` } })).kind).toBe('bad');
  });

  test.each([
    [{ confirmationId: 'GH-1 é 申請' }, 'frame'],
    [{ confirmationId: '' }, 'bad'],
    [{ confirmationId: '😀'.repeat(256) }, 'frame'],
    [{ confirmationId: 'x'.repeat(257) }, 'bad'],
    [{ confirmationId: 'a\u001b[2J' }, 'bad'],
    [{ confirmationId: 'a\nb' }, 'bad'],
    [{ confirmationId: 'a\u202eb' }, 'bad'],
    [{ confirmationUrl: 'https://a.example/thanks?id=1' }, 'frame'],
    [{ confirmationUrl: 'HTTP://a.example' }, 'frame'],
    [{ confirmationUrl: `https://a.example/${'x'.repeat(2030)}` }, 'frame'],
    [{ confirmationUrl: `https://a.example/${'x'.repeat(2031)}` }, 'bad'],
    [{ confirmationUrl: 'javascript:alert(1)' }, 'bad'],
    [{ confirmationUrl: '/thanks' }, 'bad'],
    [{ confirmationUrl: 'https:a.example' }, 'bad'],
    [{ confirmationUrl: ' https://a.example/' }, 'bad'],
    [{ confirmationUrl: 'https://a.example/\u0000' }, 'bad'],
    [{ details: [] }, 'bad'],
  ])('a result of %o is a %s', (result, kind) => {
    expect(parseFrameFromNode(completedWith(result)).kind).toBe(kind);
  });

  test.each([
    ['nests 32 levels', completedWith({ details: { a: nested(29) } }), 'frame'],
    ['nests 33 levels', completedWith({ details: { a: nested(30) } }), 'bad'],
    [
      'nests 4,400 levels',
      completedText(`{"details":{"a":${'['.repeat(4_400)}${']'.repeat(4_400)}}}`),
      'bad',
    ],
    ['opens 200,000 arrays', '['.repeat(200_000), 'bad'],
    ['has U+0000 in a member that nobody reads', '{"type":"drain","x":"\\u0000"}', 'bad'],
    ['has a lone surrogate in a name', '{"type":"drain","\\ud800":1}', 'bad'],
    ['is larger than a frame may be', `{"type":"drain","x":"${'x'.repeat(256 * 1024)}"}`, 'bad'],
  ])('a frame that %s is checked before it is parsed: %#', (_what, text, kind) => {
    expect(parseFrameFromNode(text).kind).toBe(kind);
  });
});

describe('assign', () => {
  const payloadText =
    '{"applicationUrl":"https://a.example/","applicantProfile":{"z":1,"10":12345678901234567890.10,"a":{"payload":"}"}}}';

  test('contains the exact text of the payload, with its digits and order of members', () => {
    const text = assignFrameText({ offerId, submissionId, payloadText });
    expect(text).toContain(`"payload":${payloadText}`);
    expect(parseFrameToNode(text)).toMatchObject({ kind: 'frame', frame: { submissionId } });
    expect(assignPayloadText(text)).toBe(payloadText);
  });

  test('built by another program is parsed too', () => {
    const text = `{"payload":{"a":1},"type":"assign","offerId":"o","submissionId":"s"}`;
    expect(assignPayloadText(text)).toBe('{"a":1}');
  });

  test('may have an unknown member after the payload', () => {
    const text = assignFrameText({ offerId, submissionId, payloadText: '{"a":1}' });
    expect(assignPayloadText(`${text.slice(0, -1)},"more":{}}`)).toBe('{"a":1}');
  });
});
