import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJsonDocument } from './json-document.ts';
import type { JsonNode } from './json-node.ts';
import {
  canonicalText,
  duplicateNamePointers,
  plainValue,
  withDefaultString,
} from './json-value.ts';

function node(text: string): JsonNode {
  const parsing = parseJsonDocument(text);
  if (parsing.kind !== 'parsed') throw new Error(parsing.message);
  return parsing.document.root;
}
const canonical = (text: string) => canonicalText(node(text));

function filled(text: string): string {
  const object = node(text);
  if (object.kind !== 'object') throw new Error('not an object');
  return canonicalText(withDefaultString(object, 'tier', 'standard'));
}

describe('canonicalText', () => {
  test('members are sorted by name', () => {
    expect(canonical('{"b":"1","c":"2","a":"3"}')).toBe('{"a":"3","b":"1","c":"2"}');
    expect(canonical('{"c":"1","b":"2","a":"3"}')).toBe('{"a":"3","b":"2","c":"1"}');
  });

  test('the order of members and white space make no difference', () => {
    expect(canonical('{"b":[1, 2],"a":{"d":null,"c":true}}')).toBe(
      canonical(' {"a":{"c":true, "d":null} ,\n"b":[1,2]}'),
    );
  });

  test('the order of items makes a difference', () => {
    expect(canonical('[1,2]')).not.toBe(canonical('[2,1]'));
  });

  test('escapes are compared by their value', () => {
    expect(canonical('"\\u0061\\/\\n"')).toBe(canonical('"a/\\u000a"'));
  });

  test.each([
    ['1', '1.0', '1e0', '10e-1', '0.1E+1', '100000e-00005'],
    ['0', '-0', '0.000', '0e400', '-0.0e-7'],
    ['-120', '-1.2e2', '-0.12e3'],
    ['1e400', '10e399', '0.1e401'],
    ['1e99999999999999999999', '10e99999999999999999998'],
    ['12345678901234567890.5', '1234567890123456789.05e1'],
  ])('%s and its other spellings are one number', (first, ...others) => {
    for (const other of others) expect(canonical(other)).toBe(canonical(first));
  });

  test.each([
    ['9007199254740993', '9007199254740992'],
    ['0.1', '0.1000000000000000055511151231257827'],
    ['1e400', '1e401'],
    ['1', '-1'],
    ['1', '"1"'],
    ['1e99999999999999999999', '1e99999999999999999998'],
  ])('%s and %s stay different', (one, other) => {
    expect(canonical(one)).not.toBe(canonical(other));
  });

  test('extreme numbers cost only their length', () => {
    const startedMs = performance.now();
    canonical(`1e${'9'.repeat(250_000)}`);
    canonical(`0.${'0'.repeat(250_000)}1`);
    canonical(`${'1'.padEnd(250_000, '0')}e-${'0'.repeat(1000)}1`);
    expect(performance.now() - startedMs).toBeLessThan(1000);
  });

  test('a value equals its parsed canonical text, whatever the order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const reversed = JSON.stringify(value, (_key, inner: unknown) =>
          inner !== null && typeof inner === 'object' && !Array.isArray(inner)
            ? Object.fromEntries(Object.entries(inner).toReversed())
            : inner,
        );
        expect(canonical(reversed)).toBe(canonical(text));
        expect(JSON.parse(canonical(text))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('plainValue', () => {
  test.each([
    ['[[[1]]]', 1, [[]]],
    ['[[[1]]]', 2, [[[]]]],
    ['{"a":{"b":{"c":1}}}', 1, { a: {} }],
    ['{"a":{"b":{"c":1}}}', 2, { a: { b: {} } }],
  ])('of %s goes %d levels deep', (text, levels, plain) => {
    expect(plainValue(node(text), levels)).toEqual(plain);
  });

  test('a member named __proto__ is a member and changes no prototype', () => {
    const value = plainValue(node('{"__proto__":{"admin":true}}'), 8);
    expect(Object.keys(Object(value))).toEqual(['__proto__']);
    expect(value).not.toHaveProperty('admin');
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect({}).not.toHaveProperty('admin');
  });
});

describe('withDefaultString', () => {
  test('adds a missing member and keeps an existing one', () => {
    expect(filled('{"a":1}')).toBe(canonical('{"a":1,"tier":"standard"}'));
    expect(filled('{"a":1,"tier":"instant"}')).toBe(canonical('{"a":1,"tier":"instant"}'));
    expect(filled('{"a":1,"tier":null}')).toBe(canonical('{"a":1,"tier":null}'));
  });
});

describe('duplicateNamePointers', () => {
  const text = '{"a":{"x":1,"x":2},"b":[{"y~":1,"y~":2}],"b":0,"c":{"z":1}}';

  test('every duplicate name gets a pointer', () => {
    expect(duplicateNamePointers(node(text), [], 20)).toEqual(['/b', '/a/x', '/b/0/y~0']);
  });

  test('an opaque member is not searched, and the number of pointers is bounded', () => {
    expect(duplicateNamePointers(node(text), ['a'], 20)).toEqual(['/b', '/b/0/y~0']);
    expect(duplicateNamePointers(node(text), [], 1)).toHaveLength(1);
  });
});
