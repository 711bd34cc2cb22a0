import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonDepthMax, memberValue, parseJsonDocument, rawText } from './json-document.ts';
import type { JsonDocument, JsonObject } from './json-node.ts';
import { plainValue } from './json-value.ts';

function parsed(text: string): JsonDocument {
  const parsing = parseJsonDocument(text);
  if (parsing.kind !== 'parsed') throw new Error(`${parsing.message} at ${parsing.column}`);
  return parsing.document;
}

function parsedObject(text: string): JsonObject {
  const { root } = parsed(text);
  if (root.kind !== 'object') throw new Error('not an object');
  return root;
}

describe('parseJsonDocument', () => {
  test('agrees with JSON.parse on generated JSON, with and without white space', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' ', '\n\t', '  \r\n'), (text, indent) => {
        const spaced = `${indent}${JSON.stringify(JSON.parse(text), null, indent)}${indent}`;
        expect(JSON.stringify(plainValue(parsed(text).root, 256))).toBe(
          JSON.stringify(JSON.parse(text)),
        );
        expect(JSON.stringify(plainValue(parsed(spaced).root, 256))).toBe(
          JSON.stringify(JSON.parse(spaced)),
        );
      }),
    );
  });

  test('accepts and refuses the same texts as JSON.parse after random edits', () => {
    const edits = fc.array(
      fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:0123e+-.\\u tfn\u0001'.split(''), '')),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(fc.json({ maxDepth: 2 }), edits, (json, changes) => {
        const text = changes.reduce((current, [at, character]) => {
          const index = current.length === 0 ? 0 : at % current.length;
          return current.slice(0, index) + character + current.slice(index + 1);
        }, json);
        expect(parseJsonDocument(text).kind).toBe(acceptedByJsonParse(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('never throws on arbitrary text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parseJsonDocument(text).kind).toBe(acceptedByJsonParse(text));
      }),
    );
  });

  test.each([
    ['', 1, 1],
    ['{', 1, 2],
    ['[1,]', 1, 4],
    ['{"a":1,}', 1, 8],
    ['{"a" 1}', 1, 6],
    ['{a:1}', 1, 2],
    ['01', 1, 2],
    ['1.', 1, 2],
    ['-', 1, 1],
    ['+1', 1, 1],
    ['NaN', 1, 1],
    ['"a', 1, 3],
    ['"\\', 1, 3],
    ['"\\x"', 1, 1],
    ['"\\u12"', 1, 1],
    ['"a\nb"', 1, 3],
    ['{"a":1}\n\n  x', 3, 3],
    ['\ufeff{}', 1, 1],
    ['[1] [2]', 1, 5],
  ])('%j is refused at line %i, column %i', (text, line, column) => {
    expect(parseJsonDocument(text)).toMatchObject({ kind: 'malformed', line, column });
  });

  test('nesting up to the limit is parsed, and one level more is refused, however deep', () => {
    expect(parseJsonDocument(nested(jsonDepthMax)).kind).toBe('parsed');
    expect(parseJsonDocument(nested(jsonDepthMax + 1)).kind).toBe('malformed');
    expect(parseJsonDocument('{"a":'.repeat(50_000)).kind).toBe('malformed');
  });
});

describe('everything that JSON.parse loses is kept', () => {
  const text = '{ "b": 1.50e+400, "a" : [ 12345678901234567890 , "\\u00e9" ],"__proto__":{"x":1} }';
  const object = parsedObject(text);

  test('members keep their order, __proto__ among them', () => {
    expect(object.members.map((member) => member.name)).toEqual(['b', 'a', '__proto__']);
  });

  test('the raw text of a value is exactly as sent', () => {
    const document = parsed(text);
    const raw = (name: string) => rawText(document, memberValue(object, name) ?? document.root);
    expect(raw('b')).toBe('1.50e+400');
    expect(raw('a')).toBe('[ 12345678901234567890 , "\\u00e9" ]');
    expect(raw('__proto__')).toBe('{"x":1}');
    expect(rawText(document, document.root)).toBe(text);
  });

  test('a duplicate name is reported by its object', () => {
    expect(parsedObject('{"a":1,"b":2,"\\u0061":3}').duplicateNames).toEqual(['a']);
  });
});

describe('unsafe strings', () => {
  test('U+0000 and unpaired surrogates are found in values and names', () => {
    const { unsafeStrings } = parsed('{"a":["x","\\u0000"],"b":{"\\ud800":1},"c/d":"\\udc00x"}');
    expect(unsafeStrings).toEqual([
      { pointer: '/a/1', where: 'value', found: 'nul' },
      { pointer: '/b', where: 'name', found: 'lone_surrogate' },
      { pointer: '/c~1d', where: 'value', found: 'lone_surrogate' },
    ]);
  });

  test('a complete surrogate pair, escaped or not, is safe', () => {
    expect(parsed('["\\ud83d\\ude00","😀"]').unsafeStrings).toEqual([]);
  });

  test('the report is bounded', () => {
    const text = `[${Array.from({ length: 500 }, () => '"\\u0000"').join(',')}]`;
    expect(parsed(text).unsafeStrings).toHaveLength(20);
  });
});

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

function acceptedByJsonParse(text: string): 'parsed' | 'malformed' {
  try {
    JSON.parse(text);
    return 'parsed';
  } catch {
    return 'malformed';
  }
}

test('an invalid escape is refused at the string, with the reason', () => {
  expect(parseJsonDocument('{"a": "b\\x"}')).toMatchObject({
    kind: 'malformed',
    message: 'this string has an invalid escape',
    column: 7,
  });
});
