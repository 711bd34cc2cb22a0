import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newSecret, requestHash } from './secrets.ts';

describe('a fresh secret', () => {
  test.each(['hsk_test', 'hsk_live', 'nsk', 'osk'] as const)('%s has 256 bits', (prefix) => {
    expect(newSecret(prefix, randomBytes)).toMatch(new RegExp(`^${prefix}_[A-Za-z0-9_-]{43}$`));
  });

  test('whsec is plain base64, as Standard Webhooks requires', () => {
    expect(newSecret('whsec', (bytes) => Buffer.alloc(bytes, 0xff))).toBe(
      `whsec_${'/'.repeat(42)}8=`,
    );
  });

  test('differs each time', () => {
    expect(newSecret('nsk', randomBytes)).not.toBe(newSecret('nsk', randomBytes));
  });

  test('never has fewer bits than requested', () => {
    expect(() => newSecret('nsk', () => new Uint8Array(8))).toThrow('32 random bytes');
  });
});

test('a request hash depends on the key and on every character', () => {
  const key = Buffer.alloc(32, 1);
  const hash = requestHash(key, '{"a":1}');
  expect(hash).toHaveLength(32);
  expect(requestHash(key, '{"a":1}')).toEqual(hash);
  expect(requestHash(key, '{"a":2}')).not.toEqual(hash);
  expect(requestHash(Buffer.alloc(32, 2), '{"a":1}')).not.toEqual(hash);
});
