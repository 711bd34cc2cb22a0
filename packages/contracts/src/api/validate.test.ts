import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { findJobType } from '../job-types/catalogue.ts';
import { SubmissionRequest } from './submissions.ts';
import { compileSchema, fieldErrorsMax, type Validation } from './validate.ts';

const validateEnvelope = compileSchema(SubmissionRequest);
const validatePayload = (payload: unknown) => {
  const definition = findJobType('ats.application');
  if (definition === undefined) throw new Error('the job type ats.application is not declared');
  return definition.validatePayload(payload, '/payload');
};

const payload = {
  applicationUrl: 'https://jobs.example.com/apply/8841',
  atsType: 'greenhouse',
  applicantProfile: { name: 'Ana Pérez' },
  jobContext: { title: 'Welder', company: 'Example Works', salary: 1e5 },
};
const envelope = { idempotencyKey: 'a-1', jobType: 'ats.application', payload };

function errorsOf(validation: Validation<unknown>): string[] {
  if (validation.kind === 'valid') return [];
  return validation.errors.map((error) => `${error.path}: ${error.message} (${error.keyword})`);
}

describe('the envelope', () => {
  test('is valid without a tier and with any name of a tier', () => {
    expect(errorsOf(validateEnvelope(envelope))).toEqual([]);
    expect(errorsOf(validateEnvelope({ ...envelope, tier: 'no-such' }))).toEqual([]);
  });

  test('a misspelt member is refused with its own path', () => {
    expect(errorsOf(validateEnvelope({ ...envelope, teir: 'instant' }))).toEqual([
      '/teir: is not a known member (additionalProperties)',
    ]);
  });

  test('a member named __proto__ is refused as unknown', () => {
    const withProto: unknown = JSON.parse('{"__proto__":{"payload":{}},"idempotencyKey":"a"}');
    expect(errorsOf(validateEnvelope(withProto))).toEqual([
      '/jobType: is required (required)',
      '/payload: is required (required)',
      '/__proto__: is not a known member (additionalProperties)',
    ]);
  });

  test.each([
    [0, ['/idempotencyKey: must have 1 character or more (minLength)']],
    [1, []],
    [128, []],
    [129, ['/idempotencyKey: must have 128 characters or fewer (maxLength)']],
  ])('an idempotency key of %i characters, counted in code points', (length, errors) => {
    const idempotencyKey = '😀'.repeat(length);
    expect(errorsOf(validateEnvelope({ ...envelope, idempotencyKey }))).toEqual(errors);
  });
});

describe('ats.application', () => {
  test('allows further members in jobContext and any members in applicantProfile', () => {
    expect(errorsOf(validatePayload(payload))).toEqual([]);
  });

  test('all violations are listed, each with its pointer and a message', () => {
    const wrong = {
      applicationUrl: 'ftp://x',
      atsType: '',
      jobContext: { title: 7 },
      'extra/~': 1,
    };
    expect(errorsOf(validatePayload(wrong)).toSorted()).toEqual([
      '/payload/applicantProfile: is required (required)',
      '/payload/applicationUrl: must be an http or https URL with a public host and without a user or password (format)',
      '/payload/atsType: must have 1 character or more (minLength)',
      '/payload/extra~1~0: is not a known member (additionalProperties)',
      '/payload/jobContext/company: is required (required)',
      '/payload/jobContext/title: must be a string (type)',
    ]);
  });

  test('at most 20 violations are listed, and their paths are limited in length', () => {
    const names = Array.from({ length: 100 }, (_, index) => [`${index}`.repeat(2000), 1]);
    const validation = validatePayload({ ...payload, ...Object.fromEntries(names) });
    if (validation.kind === 'valid') throw new Error('the body was accepted');
    expect(validation.errors).toHaveLength(fieldErrorsMax);
    for (const error of validation.errors) expect(error.path.length).toBeLessThan(300);
  });
});

describe('applicationUrl', () => {
  test.each([
    'https://jobs.example.com/apply/8841?x=%20#top',
    'http://example.com',
    'HTTPS://EXAMPLE.COM:8443/a@b',
    'https://xn--mnchen-3ya.example/',
    'https://münchen.example/ä',
    'https://93.184.215.14/',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
  ])('%s is accepted', (applicationUrl) => {
    expect(errorsOf(validatePayload({ ...payload, applicationUrl }))).toEqual([]);
  });

  test.each([
    'ftp://example.com/',
    'example.com',
    'https:example.com',
    'https:/example.com',
    'https:\\\\example.com',
    'https://example.com\\@10.0.0.1/',
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://@example.com/',
    ' https://example.com/',
    'https://example.com/\n',
    'https://exa\tmple.com/',
    'https://example.com/a b',
    'https://example.com:99999/',
    'https://',
    'https:///example.com',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.localhost/',
    'http://printer/',
    'http://nas.local/',
    'http://a.internal/',
    'http://a.lan/',
    'http://router.home.arpa./',
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://0x7f000001/',
    'http://127.1/',
    'http://192.168.1.1./',
    'http://１２７.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[fe80::1]/',
    'http://224.0.0.1/',
    'http://[ff02::1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://100.64.0.1/',
    'http://0/',
  ])('%j is refused', (applicationUrl) => {
    expect(errorsOf(validatePayload({ ...payload, applicationUrl }))).toEqual([
      '/payload/applicationUrl: must be an http or https URL with a public host and without a user or password (format)',
    ]);
  });

  test('its length is counted in code points, at most 2048', () => {
    const base = 'https://example.com/';
    const taken = base + '😀'.repeat(2048 - base.length);
    expect(errorsOf(validatePayload({ ...payload, applicationUrl: taken }))).toEqual([]);
    expect(errorsOf(validatePayload({ ...payload, applicationUrl: `${taken}a` }))).toEqual([
      '/payload/applicationUrl: must have 2048 characters or fewer (maxLength)',
    ]);
  });
});

test('unsafe characters of a name are replaced in the path', () => {
  const validate = compileSchema(Type.Object({}, { additionalProperties: false }));
  expect(errorsOf(validate({ '\ud800\0': 1 }))).toEqual([
    '/\ufffd\ufffd: is not a known member (additionalProperties)',
  ]);
});

test('a list of distinct strings refuses objects, as the gateway reads them, and repeated strings', () => {
  const check = compileSchema(
    Type.Object({ events: Type.Array(Type.Enum(['a', 'b']), { uniqueItems: true }) }),
  );
  const bare: unknown = Object.assign(Object.create(null), { a: null });
  const other: unknown = Object.create(null);
  expect(errorsOf(check({ events: [bare, other] }))).toEqual([
    '/events/0: must be one of a, b (enum)',
    '/events/1: must be one of a, b (enum)',
  ]);
  expect(errorsOf(check({ events: ['a', 'b', 'a'] }))).toEqual([
    '/events: must not have the same item twice (uniqueItems)',
  ]);
});
