import { describe, expect, test } from 'vitest';
import { readObject } from '../http/read-object.ts';
import { canonicalRequest, checkJob, readIdempotencyKey } from './read-request.ts';

const payload = {
  applicationUrl: 'https://jobs.example.com/apply/8841',
  atsType: 'greenhouse',
  applicantProfile: { name: 'Ana Pérez' },
  jobContext: { title: 'Welder', company: 'Example Works' },
};
const valid = { idempotencyKey: 'a-1', jobType: 'ats.application', tier: 'priority', payload };

function readText(text: string) {
  const contentType = 'application/json';
  return readObject({ body: Buffer.from(text), contentType, contentEncoding: undefined });
}

function firstRefusal(body: object | string, allowed = ['ats.application']): string {
  const read = readText(typeof body === 'string' ? body : JSON.stringify(body));
  if (read.kind === 'problem') return refusalText(read);
  const key = readIdempotencyKey(read);
  if (key.kind === 'problem') return refusalText(key);
  const job = checkJob(read, 'submission', allowed);
  return job.kind === 'problem' ? refusalText(job) : 'accepted';
}

function refusalText(refusal: {
  code: string;
  extras: { errors?: readonly { path: string }[] };
}): string {
  return [refusal.code, refusal.extras.errors?.[0]?.path].filter(Boolean).join(' ');
}

function payloadTextOf(text: string): string {
  const body = readText(text);
  if (body.kind === 'problem') throw new Error(body.detail);
  const job = checkJob(body, 'submission', ['ats.application']);
  if (job.kind === 'problem') throw new Error(job.detail);
  return job.payloadText;
}

function canonicalOf(text: string): string {
  const body = readText(text);
  if (body.kind === 'problem') throw new Error(body.detail);
  return canonicalRequest(body);
}

describe('the order of the checks: if two fail, the first wins', () => {
  test('a valid body is accepted with and without a tier', () => {
    expect(firstRefusal(valid)).toBe('accepted');
    expect(firstRefusal({ ...valid, tier: undefined })).toBe('accepted');
  });

  test('JSON before the key', () => {
    expect(firstRefusal('{"idempotencyKey":7')).toBe('validation_error');
    expect(firstRefusal('[]')).toBe('validation_error');
    expect(firstRefusal('null')).toBe('validation_error');
  });

  test('the key before the envelope', () => {
    const { idempotencyKey: _, ...keyless } = valid;
    expect(firstRefusal({ ...keyless, extra: 1 })).toBe('validation_error /idempotencyKey');
    expect(firstRefusal({ ...valid, idempotencyKey: '', jobType: 1 })).toBe(
      'validation_error /idempotencyKey',
    );
  });

  test('the envelope before the job type', () => {
    expect(firstRefusal({ ...valid, teir: 'instant', jobType: 'no.such' })).toBe(
      'validation_error /teir',
    );
    expect(firstRefusal({ ...valid, payload: [], jobType: 'no.such' })).toBe(
      'validation_error /payload',
    );
    expect(firstRefusal({ ...valid, tier: null, jobType: 'no.such' })).toBe(
      'validation_error /tier',
    );
  });

  test('the job type before the allowlist, the allowlist before the tier', () => {
    expect(firstRefusal({ ...valid, jobType: 'no.such' }, [])).toBe('unknown_job_type');
    expect(firstRefusal({ ...valid, jobType: 'toString' }, [])).toBe('unknown_job_type');
    expect(firstRefusal({ ...valid, tier: 'turbo' }, [])).toBe('job_type_not_allowed');
  });

  test('the tier before the payload', () => {
    expect(firstRefusal({ ...valid, tier: 'turbo', payload: {} })).toBe('unknown_tier');
    expect(firstRefusal({ ...valid, payload: {} })).toBe(
      'validation_error /payload/applicationUrl',
    );
  });
});

function withProfile(levels: number): string {
  const profile = `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  return JSON.stringify(valid).replace('{"name":"Ana Pérez"}', profile);
}

test('a member of the payload may nest 64 levels deep', () => {
  expect(firstRefusal(withProfile(64))).toBe('accepted');
  expect(firstRefusal(withProfile(65))).toBe('validation_error /payload/applicantProfile');
});

describe('repeated member names', () => {
  test('are refused in the envelope before the key is checked', () => {
    expect(firstRefusal('{"tier":"standard","tier":"instant"}')).toBe('validation_error /tier');
  });

  test('are refused in the payload', () => {
    const text = JSON.stringify(valid).replace('"title":', '"title":"Cook","title":');
    expect(firstRefusal(text)).toBe('validation_error /payload/jobContext/title');
  });

  test('are accepted in an opaque member', () => {
    const text = JSON.stringify(valid).replace('"name":', '"name":"x","name":');
    expect(firstRefusal(text)).toBe('accepted');
  });
});

test('the payload is passed on exactly as sent: digits, order and `__proto__` included', () => {
  const profile = '{"z":1.50,"a":1e400,"__proto__":{"b":12345678901234567890},"é":"\\u00e9"}';
  const sent = JSON.stringify(payload).replace('{"name":"Ana Pérez"}', profile);
  const text = JSON.stringify(valid).replace(JSON.stringify(payload), sent);
  expect(payloadTextOf(text)).toBe(sent);
});

describe('canonicalRequest', () => {
  const text = '{"idempotencyKey":"a","jobType":"j","payload":{"n":1.0,"m":"\\u0061"}}';

  test('is the same for another order, other white space and an explicit default tier', () => {
    const same =
      ' {"payload":{ "m":"a","n":1e0},\n"tier":"standard","jobType":"j","idempotencyKey":"a"}';
    expect(canonicalOf(same)).toBe(canonicalOf(text));
  });

  test.each([
    text.replace('1.0', '1.0000000000000000000001'),
    text.replace('1.0', '"1.0"'),
    text.replace('"j"', '"J"'),
    text.replace('}}', '},"tier":"instant"}'),
    text.replace('}}', ',"x":null}}'),
  ])('differs for %s', (other) => {
    expect(canonicalOf(other)).not.toBe(canonicalOf(text));
  });
});

test('a quote refuses an idempotency key', () => {
  const body = readText(JSON.stringify(valid));
  if (body.kind === 'problem') throw new Error(body.detail);
  expect(checkJob(body, 'quote', ['ats.application'])).toMatchObject({
    code: 'validation_error',
    extras: { errors: [{ path: '/idempotencyKey' }] },
  });
});
