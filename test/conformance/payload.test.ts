import type { TenantCredentials } from '@svc/testkit';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { job } from '../support/job.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';

/**
 * `applicantProfile` reaches the node unchanged (CONTRACT 3): every member in its order, every
 * string with the same characters, every number with all its digits.
 */

let whole: WholeStack;
let tenant: TenantCredentials;

beforeAll(async () => {
  whole = await startWholeStack();
  tenant = await whole.tenant({ grantCredits: 1_000_000 });
});
afterAll(() => whole.close());

const profilesPerRun = 150;
const profileDepthMax = 64;

/** Numbers as JSON text, because JavaScript cannot represent all of them. */
const number = fc.oneof(
  fc.constantFrom('9007199254740993', '1e400', '-0', '0.10', '1E+2', '-1.50e-7', '123456789.0'),
  fc.bigInt().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.stringMatching(/^[1-9][0-9]{0,40}[.][0-9]{1,40}[eE][+-]?[0-9]{1,3}$/),
);
const safeText = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
const memberName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', '', '0', '10', '2', 'a/b', '~', 'é'),
  safeText,
);
const json = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    number,
    safeText.map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'false', 'null', '[]', '{}'),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    tie('object'),
  ),
  object: fc
    .uniqueArray(fc.tuple(memberName, tie('value')), { maxLength: 6, selector: ([name]) => name })
    .map(
      (members) =>
        `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`,
    ),
}));

async function throughTheStack(key: string, profile: string): Promise<string> {
  const body = JSON.stringify(job(key)).replace(
    JSON.stringify(job(key).payload.applicantProfile),
    () => profile,
  );
  const answer = await whole.askAs(tenant, { method: 'POST', target: '/v1/submissions', body });
  expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
  const submissionId = String(answer.body['submissionId']);
  await whole.node.next('assign', { where: (frame) => frame.submissionId === submissionId });
  const text = whole.node.texts.find(
    (frame) => frame.includes('"assign"') && frame.includes(submissionId),
  );
  if (text === undefined) throw new Error('the node was not assigned the submission');
  return text;
}

/**
 * Expects that the frame contains the profile as it was posted. Only the white space between tokens
 * and the escapes in strings may differ.
 */
function expectCarried(frame: string, profile: string): void {
  expect(tokensOf(frame).join(' ')).toContain(
    `"applicantProfile" : ${tokensOf(profile).join(' ')}`,
  );
}

/**
 * Splits JSON into tokens. Writes each string with the escapes of `JSON.stringify`. Other tokens
 * stay as written.
 */
function tokensOf(text: string): string[] {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs) ?? [];
  return tokens.map((token) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token));
}

test('every profile arrives as it was sent', async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(json.object, async (profile) => {
      count += 1;
      expectCarried(await throughTheStack(`profile-${count}`, profile), profile);
    }),
    { numRuns: profilesPerRun },
  );
});

test.each([
  ['numbers beyond 2^53 and beyond a double', '{"a":9007199254740993,"b":1e400,"c":-0,"d":1.000}'],
  ['members named like those of every object', '{"__proto__":{"admin":true},"constructor":1}'],
  ['members in their order, with numeric names too', '{"b":1,"2":2,"a":3,"1":4}'],
  ['escapes', String.raw`{"a":"\u00e9\/\n\ud83d\ude00","\u0061b":"\\"}`],
  ['white space', '{ "a" :\n[ 1 ,\t2 ] }'],
  ['a repeated name', '{"a":1,"a":2}'],
])('%s', async (name, profile) => {
  expectCarried(await throughTheStack(name, profile), profile);
});

function deep(levels: number): string {
  return `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
}

test('a profile at the depth limit arrives; one level more is refused', async () => {
  expectCarried(await throughTheStack('deep', deep(profileDepthMax)), deep(profileDepthMax));
  const body = JSON.stringify(job('deeper')).replace(
    JSON.stringify(job('').payload.applicantProfile),
    () => deep(profileDepthMax + 1),
  );
  const answer = await whole.askAs(tenant, { method: 'POST', target: '/v1/submissions', body });
  expect([answer.status, answer.body['code']]).toEqual([422, 'validation_error']);
});
