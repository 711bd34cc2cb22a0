import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { breakingChanges } from './compatibility.ts';
import { openApiDocument } from './document.ts';
import { frozenDocumentUrl } from './frozen.ts';

const frozen: unknown = JSON.parse(readFileSync(frozenDocumentUrl, 'utf8'));

const presentText = JSON.stringify(openApiDocument());
const present = (): unknown => JSON.parse(presentText);

test('v1 changes only by additions', () => {
  expect(breakingChanges(frozen, present())).toEqual([]);
});

test('the frozen copy has every addition; if not, run `pnpm openapi:freeze`', () => {
  expect(present()).toEqual(frozen);
});

const schema = '/components/schemas';
const post = '/paths/~1v1~1submissions/post';
const requestSchema = `${schema}/SubmissionRequest`;
const completed =
  '/webhooks/submission.completed/post/requestBody/content/application~1json/schema';

/** Breaking changes, each made alone: [pointer, new value, the expected report]. */
const breaking: readonly [string, unknown, RegExp][] = [
  ['/paths/~1v1~1quotes', undefined, /POST \/v1\/quotes: the endpoint is gone/],
  [`${post}/operationId`, 'makeSubmission', /operationId/],
  [`${post}/security`, [{ operator: [] }], /security/],
  ['/paths/~1v1~1credits~1balance/get/security', [], /security/],
  [`${post}/responses/200`, undefined, /answer 200 is gone/],
  [`${post}/responses/402`, undefined, /answer 402 is gone/],
  [`${post}/responses/201/headers/x-request-id`, undefined, /header x-request-id is gone/],
  [`${post}/responses/201/content/application~1json`, undefined, /application\/json is gone/],
  [`${post}/parameters`, [{ name: 'dry', in: 'query', required: true }], /required now/],
  ['/paths/~1v1~1submissions~1{id}/get/parameters', [], /path parameter id is gone/],
  [
    '/paths/~1v1~1submissions~1{id}~1cancel/post/requestBody',
    { required: true },
    /body is required/,
  ],
  // Requests.
  [`${requestSchema}/required/3`, 'tier', /member tier is required now/],
  [`${requestSchema}/properties/tier`, undefined, /tier: the member is gone/],
  [`${requestSchema}/properties/tier/enum`, ['standard'], /only the listed values/],
  [`${requestSchema}/properties/idempotencyKey/maxLength`, 64, /maxLength is 64 and was 128/],
  [`${requestSchema}/properties/idempotencyKey/minLength`, 2, /minLength is 2 and was 1/],
  [`${requestSchema}/properties/idempotencyKey/pattern`, '^a', /pattern/],
  [`${requestSchema}/properties/idempotencyKey/type`, 'integer', /the type is integer/],
  [
    `${schema}/AtsApplicationPayload/properties/jobContext/additionalProperties`,
    false,
    /refused now/,
  ],
  [
    `${schema}/AtsApplicationPayload/properties/jobContext/properties/place`,
    { type: 'string' },
    /could have any value/,
  ],
  [`${schema}/AtsApplicationPayload/required/4`, 'consent', /consent is required now/],
  // Answers.
  [`${schema}/Submission/properties/usage`, undefined, /usage: the member is gone/],
  [`${schema}/Submission/required/0`, undefined, /id is optional now/],
  [`${schema}/Quote/properties/max/type`, 'string', /the type is string and was number/],
  [`${schema}/Submission/properties/status/anyOf/1`, undefined, /only the listed values now/],
  [`${schema}/Submission/properties/status/anyOf/0/enum/0`, undefined, /"pending" is gone/],
  [
    `${schema}/SubmissionCreated/properties/status`,
    { enum: ['dispatched', 'queued'] },
    /"queued" is new/,
  ],
  [`${schema}/Submission/properties/actualCredits/anyOf/2`, { type: 'string' }, /variant is new/],
  [`${schema}/Submission/properties/id/pattern`, undefined, /pattern/],
  [
    `${schema}/SubmissionFailure/properties/code/anyOf/0/enum/0`,
    undefined,
    /"ats_rejected" is gone/,
  ],
  [`${schema}/Problem/properties/detail`, undefined, /detail: the member is gone/],
  [`${schema}/Problem/properties/code/anyOf/0/enum/0`, undefined, /is gone/],
  [
    '/components/responses/Problem402/content/application~1problem+json/examples/insufficient_credits',
    undefined,
    /the code insufficient_credits is gone/,
  ],
  [
    '/components/responses/Problem402/content/application~1problem+json/schema/required/0',
    undefined,
    /member required is optional now/,
  ],
  [
    '/components/responses/Problem422/content/application~1problem+json/schema/allOf/1/then/required/0',
    undefined,
    /for the error code validation_error, the member errors is optional now/,
  ],
  [
    '/components/responses/Problem409/content/application~1problem+json/schema/allOf/1',
    undefined,
    /for the error code terminal_state, the member submissionStatus is optional now/,
  ],
  [
    '/components/responses/Problem409/content/application~1problem+json/schema',
    { $ref: '#/components/schemas/Problem' },
    /for the error code intent_failed, the member paidAmount is optional now/,
  ],
  ['/components/responses/Problem404', undefined, /answer 404 is gone|Problem404 is gone/],
  // Events.
  ['/webhooks/submission.failed', undefined, /submission\.failed: the event is gone/],
  [`${completed}/properties/data/properties/refundedCredits`, undefined, /refundedCredits/],
  [`${completed}/properties/type/const`, 'submission.done', /"submission.completed" is gone/],
];

test.each(breaking)('a change that breaks clients is found: %s', (at, value, report) => {
  const found = breakingChanges(present(), changed(at, value));
  expect(found.join('\n')).toMatch(report);
});

const additive: readonly [string, unknown][] = [
  ['/paths/~1v1~1reports', { get: { operationId: 'listReports' } }],
  ['/paths/~1ready', undefined],
  [`${post}/summary`, 'Submit a job'],
  [`${post}/parameters`, [{ name: 'dry', in: 'query', schema: { type: 'boolean' } }]],
  [`${post}/responses/418`, { description: 'a new code' }],
  [`${requestSchema}/properties/note`, { type: 'string' }],
  [`${requestSchema}/properties/idempotencyKey/maxLength`, 256],
  [`${requestSchema}/properties/tier/type`, ['string', 'null']],
  [`${requestSchema}/required/2`, undefined],
  [`${schema}/Submission/properties/priority`, { type: 'integer' }],
  [`${schema}/Submission/required/99`, 'priority'],
  [`${schema}/SubmissionFailure/properties/code/anyOf/0/enum/99`, 'site_changed'],
  [`${schema}/Problem/properties/code/anyOf/0/enum/99`, 'tenant_suspended'],
  ['/webhooks/submission.paused', { post: {} }],
  [`${schema}/Submission/properties/status/anyOf/0/enum/99`, 'paused'],
  [`${schema}/Submission/properties/idempotencyKey/pattern`, '^.+$'],
];

test.each(additive)('an addition is not reported as breaking: %s', (at, value) => {
  expect(breakingChanges(present(), changed(at, value))).toEqual([]);
});

const closedLists: readonly [string, unknown][] = [
  [
    `${schema}/Submission/properties/status`,
    { enum: ['pending', 'dispatched', 'running', 'submitted', 'failed', 'cancelled'] },
  ],
  [
    '/components/responses/Problem409/content/application~1problem+json/schema',
    {
      allOf: [{ $ref: '#/components/schemas/Problem' }],
      oneOf: [
        { properties: { code: { const: 'solana_disabled' } }, required: ['code'] },
        { properties: { code: { const: 'terminal_state' } }, required: ['code', 'submissionId'] },
      ],
    },
  ],
];

test.each(closedLists)('a closed list of an answer may become open: %s', (at, value) => {
  expect(breakingChanges(changed(at, value), present())).toEqual([]);
});

/**
 * Returns a copy of the document with `value` at `pointer`. Undefined removes the member or item.
 * An index past the end of an array appends `value`.
 */
function changed(pointer: string, value: unknown): unknown {
  const copy = present();
  const names = pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = names.pop() ?? '';
  const parent = names.reduce<unknown>((at, name) => Object(at)[name], copy);
  if (Array.isArray(parent))
    parent.splice(Number(last), 1, ...(value === undefined ? [] : [value]));
  else Object.assign(Object(parent), { [last]: value });
  return JSON.parse(JSON.stringify(copy));
}
