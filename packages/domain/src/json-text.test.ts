import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJsonDocument } from './json-document.ts';
import { countJsonValues, jsonTextFault, parseBoundedJson } from './json-text.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test('nesting is counted in levels, and brackets in strings do not count', () => {
  expect(jsonTextFault(nested(32), 32)).toBeUndefined();
  expect(jsonTextFault(nested(33), 32)).toBe('too_deep');
  expect(jsonTextFault(`{"a":${nested(32)}}`, 32)).toBe('too_deep');
  expect(jsonTextFault(`["${'['.repeat(99)}","\\"[[[["]`, 1)).toBeUndefined();
  expect(jsonTextFault(`[${'[],'.repeat(99)}[]]`, 2)).toBeUndefined();
});

test.each([
  ['"\\u0000"', 'nul'],
  ['{"\\u0000":1}', 'nul'],
  ['"\\ud800"', 'lone_surrogate'],
  ['"\\udc00"', 'lone_surrogate'],
  ['"\\uD83Dx\\uDE00"', 'lone_surrogate'],
  ['{"\\udfff":1}', 'lone_surrogate'],
  ['"\ud800"', 'lone_surrogate'],
  // `JSON.parse` keeps only the second member `a`. The fault in the first member is still found.
  ['{"a":"\\u0000","a":1}', 'nul'],
  ['"\\ud83d\\ude00"', undefined],
  ['"\\\\u0000"', undefined],
  ['"\\\\\\u0000"', 'nul'],
])('the strings of %s are judged by their value', (text, fault) => {
  expect(jsonTextFault(text, 8)).toBe(fault);
});

test('text of any depth and length is refused without throwing', () => {
  for (const levels of [4_400, 100_000, 5_000_000]) {
    expect(parseBoundedJson('['.repeat(levels), { charactersMax: 1e8, depthMax: 32 })).toEqual({
      kind: 'refused',
      reason: 'too_deep',
    });
  }
  const bounds = { charactersMax: 4, depthMax: 8 };
  expect(parseBoundedJson('"abc"', bounds)).toEqual({ kind: 'refused', reason: 'too_large' });
  expect(parseBoundedJson('"\\u', bounds)).toEqual({ kind: 'refused', reason: 'malformed' });
});

test('it agrees with a parser and a walk over its values', () => {
  const walk = (value: unknown): boolean => {
    if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
    if (typeof value !== 'object' || value === null) return true;
    return Object.entries(value).every(([name, one]) => walk(name) && walk(one));
  };
  const strings = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('\0', '\ud800', '\udc00', '\\', 'u', '0', '"', '[') }),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      strings,
      fc.integer(),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(strings, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      const text = JSON.stringify(value);
      expect(jsonTextFault(text, 64) === undefined).toBe(walk(value));
    }),
  );
});

test('the values of a text are counted as the parser counts them', () => {
  fc.assert(
    fc.property(fc.json(), fc.boolean(), (compact, isSpaced) => {
      const text = isSpaced ? JSON.stringify(JSON.parse(compact), null, 2) : compact;
      const values = countJsonValues(Buffer.from(text), Infinity);
      expect(parseJsonDocument(text, values).kind).toBe('parsed');
      expect(parseJsonDocument(text, values - 1)).toMatchObject({
        kind: 'malformed',
        message: 'the text has too many values',
      });
    }),
  );
  expect(countJsonValues(Buffer.from('[0,0,0,0]'), 3)).toBe(3);
});
