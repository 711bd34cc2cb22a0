import { expect, test } from 'vitest';
import { answerKind, type FencePhase, type Verdict, verdictOn } from './gate.ts';

/**
 * The verdicts of each phase, in this order: on a matching POST (`isMatch`), another POST, a GET
 * that does not match, a matching GET, and a matching preflight.
 */
const table: Readonly<Record<FencePhase, readonly Verdict[]>> = {
  open: ['continue', 'continue', 'continue', 'continue', 'continue'],
  armed: ['abort', 'continue', 'continue', 'abort', 'continue'],
  activated: ['submit', 'continue', 'continue', 'submit', 'continue'],
  sending: ['hold', 'hold', 'hold', 'hold', 'hold'],
  closed: ['abort', 'abort', 'continue', 'abort', 'continue'],
};
const phases: readonly FencePhase[] = ['open', 'armed', 'activated', 'sending', 'closed'];

test.each(phases)('the gate decides by the phase, the method and the matcher: %s', (phase) => {
  expect([
    verdictOn(phase, { method: 'POST', isMatch: true }),
    verdictOn(phase, { method: 'POST', isMatch: false }),
    verdictOn(phase, { method: 'GET', isMatch: false }),
    verdictOn(phase, { method: 'GET', isMatch: true }),
    verdictOn(phase, { method: 'OPTIONS', isMatch: true }),
  ]).toEqual(table[phase]);
});

test('after the fence, only GET, HEAD and OPTIONS leave', () => {
  const passing = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'].filter(
    (method) => verdictOn('closed', { method, isMatch: false }) === 'continue',
  );
  expect(passing).toEqual(['GET', 'HEAD', 'OPTIONS']);
});

test.each([
  [303, 'POST', 'follow'],
  [302, 'POST', 'follow'],
  [301, 'POST', 'follow'],
  [302, 'PUT', 'repeat'],
  [307, 'POST', 'repeat'],
  [308, 'POST', 'repeat'],
  [307, 'GET', 'follow'],
  [200, 'POST', 'final'],
  [304, 'GET', 'final'],
  [422, 'POST', 'final'],
])('a %i that answers a %s is taken as %s', (status, method, kind) => {
  expect(answerKind(status, method, true)).toBe(kind);
});

test('a redirect without an address is an answer', () => {
  expect(answerKind(307, 'POST', false)).toBe('final');
});
