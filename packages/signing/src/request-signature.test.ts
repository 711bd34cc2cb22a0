import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  describeRefusal,
  sha256Hex,
  signRequest,
  stringToSign,
  verifyRequest,
} from './request-signature.ts';

interface SigningVectors {
  readonly secret: string;
  readonly cases: readonly {
    readonly name: string;
    readonly timestamp: number;
    readonly method: string;
    readonly target: string;
    readonly body: string;
    readonly bodySha256: string;
    readonly stringToSign: string;
    readonly signature: string;
  }[];
}

const vectors: SigningVectors = JSON.parse(
  readFileSync(new URL('../vectors/request-signing.json', import.meta.url), 'utf8'),
);

describe('the vectors', () => {
  test.each(vectors.cases)('$name', (example) => {
    const { timestamp, method, target, body, bodySha256 } = example;
    expect(sha256Hex(body)).toBe(bodySha256);
    expect(sha256Hex(new TextEncoder().encode(body))).toBe(bodySha256);
    const text = stringToSign({ timestamp: String(timestamp), method, target, bodySha256 });
    expect(text).toBe(example.stringToSign);
    const signature = signRequest({ secret: vectors.secret, timestamp, method, target, body });
    expect(signature).toBe(example.signature);
    const verification = verifyRequest({
      secrets: [vectors.secret],
      timestamp: String(timestamp),
      signature: example.signature,
      nowSeconds: timestamp,
      method,
      target,
      bodySha256,
    });
    expect(verification).toMatchObject({ kind: 'verified' });
  });
});

const nowSeconds = 1_795_000_000;
const parts = {
  method: 'POST',
  target: '/v1/submissions?a=b',
  bodySha256: sha256Hex('{}'),
};
const good = signed('hsk_test_good');
const bad = `v1=${'0'.repeat(64)}`;

function signed(secret: string, timestamp: string | number = nowSeconds): string {
  return signRequest({ ...parts, secret, timestamp, body: '{}' });
}

function verify(changes: Partial<Parameters<typeof verifyRequest>[0]> = {}) {
  return verifyRequest({
    ...parts,
    secrets: ['hsk_test_good'],
    timestamp: String(nowSeconds),
    signature: good,
    nowSeconds,
    ...changes,
  });
}

describe('a signature is valid for one request only', () => {
  test.each([
    ['method', { method: 'PUT' }],
    ['path', { target: '/v1/submission?a=b' }],
    ['query', { target: '/v1/submissions?a=c' }],
    ['body', { bodySha256: sha256Hex('{ }') }],
    ['timestamp', { timestamp: String(nowSeconds + 1) }],
    ['spelling of the timestamp', { timestamp: `0${nowSeconds}` }],
    ['secret', { secrets: ['hsk_test_other'] }],
    ['case of the secret', { secrets: ['HSK_test_good'] }],
  ])('another %s is refused', (_name, changes) => {
    expect(verify(changes)).toEqual({ kind: 'wrong_signature' });
  });
});

describe('the window', () => {
  test.each([-300, -299, 0, 299, 300])('%d s from the clock is inside', (offset) => {
    const timestamp = String(nowSeconds + offset);
    const signature = signed('hsk_test_good', timestamp);
    expect(verify({ timestamp, signature })).toMatchObject({ kind: 'verified' });
  });

  test.each([-301, 301, 86_400])(
    '%d s from the clock is outside, and the distance is reported',
    (offset) => {
      const timestamp = String(nowSeconds + offset);
      const signature = signed('hsk_test_good', timestamp);
      const verification = verify({ timestamp, signature });
      expect(verification).toEqual({ kind: 'outside_window', seconds: offset });
    },
  );

  test('a fraction of a second of the clock is ignored', () => {
    const timestamp = String(nowSeconds - 300);
    const signature = signed('hsk_test_good', timestamp);
    const verification = verify({ timestamp, signature, nowSeconds: nowSeconds + 0.999 });
    expect(verification).toMatchObject({ kind: 'verified' });
  });

  test('is checked for unknown keys too, so that the result reveals nothing about keys', () => {
    const changes = { timestamp: String(nowSeconds - 400), secrets: [] };
    expect(verify(changes)).toEqual({ kind: 'outside_window', seconds: -400 });
  });
});

describe('several signatures', () => {
  test.each([
    `${bad},${good}`,
    `${good},${bad}`,
    `${bad}, ${bad} ,\t${bad},${good}`,
    `v2=something,${good}`,
    `v0=x,v99=y,${good}`,
    `v1=short,${good}`,
    `${good},${good}`,
  ])('one match of at most four is enough: %s', (signature) => {
    expect(verify({ signature })).toMatchObject({ kind: 'verified' });
  });

  test('another version is ignored even if its value would match', () => {
    const signature = `${good.replace('v1=', 'v2=')},${bad}`;
    expect(verify({ signature })).toEqual({ kind: 'wrong_signature' });
  });

  test('either secret of a rotation verifies, on either side', () => {
    const secrets = ['hsk_test_old', 'hsk_test_new'];
    for (const [secretIndex, secret] of secrets.entries()) {
      const verification = verify({ secrets, signature: signed(secret) });
      expect(verification).toEqual({ kind: 'verified', secretIndex });
    }
    expect(verify({ secrets }).kind).toBe('wrong_signature');
  });
});

describe('malformed headers differ from wrong ones', () => {
  test.each([
    ['no timestamp', { timestamp: undefined }, 'X-SVC-Timestamp is missing'],
    ['no signature', { signature: undefined }, 'X-SVC-Signature is missing'],
    ['an empty timestamp', { timestamp: '' }, 'X-SVC-Timestamp is not'],
    ['a date', { timestamp: '2026-11-18T11:06:39Z' }, 'X-SVC-Timestamp is not'],
    ['milliseconds', { timestamp: '1795000000.5' }, 'X-SVC-Timestamp is not'],
    ['a sign', { timestamp: '-1795000000' }, 'X-SVC-Timestamp is not'],
    ['an exponent', { timestamp: '1e9' }, 'X-SVC-Timestamp is not'],
    ['two timestamps', { timestamp: '1795000000, 1795000000' }, 'X-SVC-Timestamp is not'],
    ['endless digits', { timestamp: '9'.repeat(16) }, 'X-SVC-Timestamp is not'],
    ['an empty signature', { signature: '' }, 'not of the form'],
    ['bare hex', { signature: good.slice(3) }, 'not of the form'],
    ['an empty value', { signature: `${good},` }, 'not of the form'],
    ['another scheme', { signature: `sha256=${good.slice(3)}` }, 'not of the form'],
    ['another version alone', { signature: 'v2=abc' }, 'no v1 value'],
    ['upper-case hex', { signature: `v1=${good.slice(3).toUpperCase()}` }, 'no v1 value'],
    ['hex cut short', { signature: good.slice(0, -1) }, 'no v1 value'],
    ['too much hex', { signature: `${good}0` }, 'no v1 value'],
    ['five values', { signature: `${bad},${bad},${bad},${bad},${good}` }, 'more than 4'],
  ])('%s', (_name, changes, detail) => {
    const known = verify(changes);
    expect(known).toMatchObject({ kind: 'malformed', detail: expect.stringContaining(detail) });
    expect(verify({ ...changes, secrets: [] })).toEqual(known);
  });
});

test('an unknown key never verifies, whatever signs the request', () => {
  for (const secret of ['', 'hsk_test_good', 'no secret: an unknown or disabled key']) {
    const verification = verify({ secrets: [], signature: signed(secret) });
    expect(verification).toEqual({ kind: 'wrong_signature' });
  }
});

test('a refusal says how far the clock is off, and not whether the key exists', () => {
  const ahead = describeRefusal({ kind: 'outside_window', seconds: 301 });
  expect(ahead).toContain('301 s ahead of the clock of the service. At most 300 s are allowed.');
  const behind = describeRefusal({ kind: 'outside_window', seconds: -900 });
  expect(behind).toContain('900 s behind the clock');
  expect(describeRefusal({ kind: 'malformed', detail: 'no v1 value' })).toBe('no v1 value');
  expect(describeRefusal({ kind: 'wrong_signature' })).toContain('No enabled key');
});
