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
  { type: 'accept', offerId },
  { type: 'decline', offerId, reason: 'busy' },
  { type: 'start', submissionId },
  { type: 'usage', submissionId, usage },
  { type: 'completed', submissionId, usage, result: { confirmationId: 'A-1', details: { a: 1 } } },
  { type: 'failed', submissionId, usage, failure: { code: 'captcha', message: 'a captcha' } },
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

function completedWith(confirmationId: string): string {
  return JSON.stringify({ type: 'completed', submissionId, usage: {}, result: { confirmationId } });
}

describe('frames', () => {
  test.each(fromNode)('of a node are read as they are sent: %o', (frame) => {
    expect(parseFrameFromNode(JSON.stringify(frame))).toEqual({ kind: 'frame', frame });
  });

  test.each(toNode)('of the service are read as they are sent: %o', (frame) => {
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
  ])('that are bad are told apart, and never quoted: %s', (text, code) => {
    const parsed = parseFrameFromNode(text);
    expect(parsed).toMatchObject({ kind: 'bad', code });
    expect(JSON.stringify(parsed)).not.toContain('tired');
  });

  test('a message of a failure is measured in code points', () => {
    expect(parseFrameFromNode(failedSaying('😀'.repeat(512))).kind).toBe('frame');
    expect(parseFrameFromNode(failedSaying('😀'.repeat(513))).kind).toBe('bad');
  });

  test('a result over 16 KiB is refused', () => {
    const overhead = '{"confirmationId":""}'.length;
    const longest = 'x'.repeat(16 * 1024 - overhead);
    expect(parseFrameFromNode(completedWith(longest)).kind).toBe('frame');
    expect(parseFrameFromNode(completedWith(`${longest}x`)).kind).toBe('bad');
  });
});

describe('assign', () => {
  const payloadText =
    '{"applicationUrl":"https://a.example/","applicantProfile":{"z":1,"10":12345678901234567890.10,"a":{"payload":"}"}}}';

  test('carries the payload to the character, digits and order of members included', () => {
    const text = assignFrameText({ offerId, submissionId, payloadText });
    expect(text).toContain(`"payload":${payloadText}`);
    expect(parseFrameToNode(text)).toMatchObject({ kind: 'frame', frame: { submissionId } });
    expect(assignPayloadText(text)).toBe(payloadText);
  });

  test('of another author is read all the same', () => {
    const text = `{"payload":{"a":1},"type":"assign","offerId":"o","submissionId":"s"}`;
    expect(assignPayloadText(text)).toBe('{"a":1}');
  });
});
