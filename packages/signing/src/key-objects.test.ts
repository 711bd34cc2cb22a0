import { expect, test } from 'vitest';
import { createKeyCache, keyOfBytes } from './key-objects.ts';

function countingCache() {
  const derived: string[] = [];
  const keyOf = createKeyCache((secret) => {
    derived.push(secret);
    return Buffer.from(secret);
  });
  return { keyOf, derived };
}

test('a key is derived once, from its own secret', () => {
  const { keyOf, derived } = countingCache();
  const one = keyOf('one');
  expect(keyOf('other').equals(one)).toBe(false);
  expect(keyOf('one')).toBe(one);
  expect(derived).toStrictEqual(['one', 'other']);
  expect(one.export().toString()).toBe('one');
});

test('the cache keeps 20,000 keys and removes the oldest first', () => {
  const { keyOf, derived } = countingCache();
  for (let index = 0; index < 20_000; index += 1) keyOf(`${index}`);
  keyOf('0');
  expect(derived).toHaveLength(20_000);
  keyOf('one more');
  keyOf('1');
  expect(derived).toHaveLength(20_001);
  keyOf('0');
  expect(derived).toHaveLength(20_002);
});

test('the key of the same bytes is created once', () => {
  const bytes = Buffer.alloc(32, 1);
  expect(keyOfBytes(bytes)).toBe(keyOfBytes(bytes));
  expect(keyOfBytes(bytes).export()).toStrictEqual(bytes);
  expect(keyOfBytes(Buffer.alloc(32, 2)).equals(keyOfBytes(bytes))).toBe(false);
});
