import { expect, test } from 'vitest';
import { policyWindowSeconds, takeToken } from './token-bucket.ts';

const policy = { perSecond: 2, burst: 3 };

test('a bucket starts full, gives its burst, then refuses until it has a token again', () => {
  let bucket;
  for (const left of [2, 1, 0]) {
    const taking = takeToken(bucket, policy, 0);
    expect(taking.decision).toMatchObject({ allowed: true, left, retryInMs: 0 });
    bucket = taking.bucket;
  }
  const refused = takeToken(bucket, policy, 100);
  expect(refused.decision).toEqual({ allowed: false, left: 0, retryInMs: 400, fullInMs: 1400 });
  expect(takeToken(refused.bucket, policy, 499).decision.allowed).toBe(false);
  expect(takeToken(refused.bucket, policy, 500).decision).toMatchObject({ allowed: true, left: 0 });
});

test('a bucket never holds more than its burst, and a clock that goes back adds nothing', () => {
  const { bucket } = takeToken(undefined, policy, 1_000);
  expect(takeToken(bucket, policy, 1_000_000).decision.left).toBe(2);
  expect(takeToken(bucket, policy, 0).decision.left).toBe(1);
});

test('a refusal says when the bucket will have as many tokens as it was asked for', () => {
  const refused = takeToken({ tokens: 1, atMs: 0 }, policy, 0, 3);
  expect(refused.decision).toMatchObject({ allowed: false, retryInMs: 1_000 });
  expect(takeToken(refused.bucket, policy, 1_000, 3).decision.allowed).toBe(true);
});

test('the window of a policy is burst over rate, rounded up', () => {
  expect(policyWindowSeconds({ perSecond: 100, burst: 200 })).toBe(2);
  expect(policyWindowSeconds({ perSecond: 3, burst: 10 })).toBe(4);
});
