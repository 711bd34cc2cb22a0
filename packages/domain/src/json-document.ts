import type {
  JsonArray,
  JsonDocument,
  JsonLiteral,
  JsonMember,
  JsonNode,
  JsonNumber,
  JsonObject,
  JsonString,
  UnsafeString,
} from './json-node.ts';

/**
 * Parses JSON strictly (RFC 8259). Keeps the text of each value, all digits of numbers, the order
 * of members and duplicate names (CONTRACT 3, decision 7).
 */

/**
 * The deepest nesting of arrays and objects that the parser accepts. Without this limit, a deeply
 * nested text could exhaust the stack. The outermost array or object is level 1.
 */
export const jsonDepthMax = 256;

const unsafeStringsMax = 20;

export type JsonParsing =
  | { readonly kind: 'parsed'; readonly document: JsonDocument }
  | {
      readonly kind: 'malformed';
      readonly message: string;
      readonly line: number;
      readonly column: number;
    };

interface Reader {
  readonly text: string;
  offset: number;
  depth: number;
  /** How many more values the text may have. */
  valuesLeft: number;
  readonly path: (string | number)[];
  /** True if the text contains a lone surrogate that is not written as an escape. */
  readonly isIllFormed: boolean;
  readonly unsafeStrings: UnsafeString[];
  failure: string | undefined;
}

/**
 * Parses one JSON text of at most `valuesMax` values. Never throws. A fault has its line and column,
 * both from 1, and a message that never quotes the text.
 */
export function parseJsonDocument(text: string, valuesMax = Infinity): JsonParsing {
  const reader: Reader = {
    text,
    offset: 0,
    depth: 0,
    valuesLeft: valuesMax,
    path: [],
    isIllFormed: !text.isWellFormed(),
    unsafeStrings: [],
    failure: undefined,
  };
  skipWhitespace(reader);
  const root = readValue(reader);
  if (root !== undefined) {
    skipWhitespace(reader);
    if (reader.offset === text.length) {
      return { kind: 'parsed', document: { text, root, unsafeStrings: reader.unsafeStrings } };
    }
    fail(reader, 'unexpected text after the JSON value');
  }
  const before = text.slice(0, reader.offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return {
    kind: 'malformed',
    message: reader.failure ?? 'unexpected character',
    line: before.split('\n').length,
    column: reader.offset - lineStart + 1,
  };
}

/** The value's text exactly as sent. */
export function rawText(document: JsonDocument, node: JsonNode): string {
  return document.text.slice(node.start, node.end);
}

export function memberValue(node: JsonObject, name: string): JsonNode | undefined {
  return node.members.find((member) => member.name === name)?.value;
}

/** The JSON Pointer (RFC 6901) of a path. */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path
    .map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

/** Records why the text cannot be read. The caller must end the parsing. */
function fail(reader: Reader, message: string): undefined {
  reader.failure = message;
  return undefined;
}

function skipWhitespace(reader: Reader): void {
  const { text } = reader;
  for (;;) {
    const code = text.charCodeAt(reader.offset);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    reader.offset += 1;
  }
}

function readValue(reader: Reader): JsonNode | undefined {
  if (reader.valuesLeft === 0) return fail(reader, 'the text has too many values');
  reader.valuesLeft -= 1;
  switch (reader.text[reader.offset]) {
    case '{':
      return readNested(reader, readObject);
    case '[':
      return readNested(reader, readArray);
    case '"':
      return readString(reader, 'value');
    case 't':
      return readLiteral(reader, 'true', true);
    case 'f':
      return readLiteral(reader, 'false', false);
    case 'n':
      return readLiteral(reader, 'null', null);
    case undefined:
      return fail(reader, 'the text ends where a value should be');
    default:
      return readNumber(reader);
  }
}

function readNested(
  reader: Reader,
  read: (reader: Reader) => JsonNode | undefined,
): JsonNode | undefined {
  if (reader.depth === jsonDepthMax) {
    return fail(reader, `arrays and objects may nest at most ${jsonDepthMax} levels deep`);
  }
  reader.depth += 1;
  const node = read(reader);
  reader.depth -= 1;
  return node;
}

function readObject(reader: Reader): JsonObject | undefined {
  const { text } = reader;
  const start = reader.offset;
  const members: JsonMember[] = [];
  reader.offset += 1;
  skipWhitespace(reader);
  for (let first = true; text[reader.offset] !== '}'; first = false) {
    if (!first && !skipComma(reader, "'}'")) return undefined;
    if (text[reader.offset] !== '"') return fail(reader, 'expected a member name in double quotes');
    const name = readString(reader, 'name')?.value;
    if (name === undefined) return undefined;
    skipWhitespace(reader);
    if (text[reader.offset] !== ':') return fail(reader, "expected ':' after a member name");
    reader.offset += 1;
    skipWhitespace(reader);
    reader.path.push(name);
    const value = readValue(reader);
    reader.path.pop();
    if (value === undefined) return undefined;
    members.push({ name, value });
    skipWhitespace(reader);
  }
  reader.offset += 1;
  return {
    kind: 'object',
    members,
    duplicateNames: duplicateNamesOf(members),
    start,
    end: reader.offset,
  };
}

const none: readonly string[] = [];

/** The name of each member that repeats an earlier name. Takes linear time. */
function duplicateNamesOf(members: readonly JsonMember[]): readonly string[] {
  if (members.length < 2) return none;
  const names = new Set<string>();
  const repeated: string[] = [];
  for (const { name } of members) {
    if (names.has(name)) repeated.push(name);
    else names.add(name);
  }
  return repeated.length === 0 ? none : repeated;
}

function readArray(reader: Reader): JsonArray | undefined {
  const start = reader.offset;
  const items: JsonNode[] = [];
  reader.offset += 1;
  skipWhitespace(reader);
  for (let first = true; reader.text[reader.offset] !== ']'; first = false) {
    if (!first && !skipComma(reader, "']'")) return undefined;
    reader.path.push(items.length);
    const item = readValue(reader);
    reader.path.pop();
    if (item === undefined) return undefined;
    items.push(item);
    skipWhitespace(reader);
  }
  reader.offset += 1;
  return { kind: 'array', items, start, end: reader.offset };
}

function skipComma(reader: Reader, orElse: string): boolean {
  if (reader.text[reader.offset] !== ',') {
    fail(reader, `expected ',' or ${orElse}`);
    return false;
  }
  reader.offset += 1;
  skipWhitespace(reader);
  return true;
}

function readString(reader: Reader, where: UnsafeString['where']): JsonString | undefined {
  const { text } = reader;
  const start = reader.offset;
  let escaped = false;
  for (let offset = start + 1; ; offset += 1) {
    const code = text.charCodeAt(offset);
    if (code === 0x22) {
      reader.offset = offset + 1;
      const value = escaped ? resolveEscapes(reader, start) : text.slice(start + 1, offset);
      if (value === undefined) return undefined;
      // A string without escapes in a well-formed text is safe: an unescaped NUL is refused as a
      // control character, and an unescaped lone surrogate makes the whole text ill-formed.
      if (escaped || reader.isIllFormed) noteUnsafe(reader, value, where);
      return { kind: 'string', value, start, end: reader.offset };
    }
    if (code === 0x5c) {
      escaped = true;
      offset += 1;
    } else if (!(code >= 0x20)) {
      // At the end of the text, `code` is NaN. A string without a closing quote fails here too.
      reader.offset = Math.min(offset, text.length);
      return fail(reader, 'a string has a control character, or lacks its closing double quote');
    }
  }
}

function resolveEscapes(reader: Reader, start: number): string | undefined {
  try {
    return String(JSON.parse(reader.text.slice(start, reader.offset)));
  } catch {
    reader.offset = start;
    return fail(reader, 'this string has an invalid escape');
  }
}

function noteUnsafe(reader: Reader, value: string, where: UnsafeString['where']): void {
  const found = value.includes('\0') ? 'nul' : value.isWellFormed() ? undefined : 'lone_surrogate';
  if (found === undefined || reader.unsafeStrings.length === unsafeStringsMax) return;
  reader.unsafeStrings.push({ pointer: jsonPointer(reader.path), where, found });
}

function skipDigits(text: string, offset: number): number {
  let end = offset;
  for (let code = text.charCodeAt(end); code >= 0x30 && code <= 0x39;) {
    end += 1;
    code = text.charCodeAt(end);
  }
  return end;
}

/**
 * Reads the longest text that matches `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`. Fails if no
 * text matches.
 */
function readNumber(reader: Reader): JsonNumber | undefined {
  const { text, offset: start } = reader;
  const whole = text[start] === '-' ? start + 1 : start;
  let end = text[whole] === '0' ? whole + 1 : skipDigits(text, whole);
  if (end === whole) return fail(reader, 'unexpected character');
  if (text[end] === '.') {
    const behind = skipDigits(text, end + 1);
    if (behind > end + 1) end = behind;
  }
  if (text[end] === 'e' || text[end] === 'E') {
    const signed = text[end + 1] === '+' || text[end + 1] === '-';
    const digits = end + (signed ? 2 : 1);
    const behind = skipDigits(text, digits);
    if (behind > digits) end = behind;
  }
  reader.offset = end;
  return { kind: 'number', text: text.slice(start, end), start, end };
}

function readLiteral(reader: Reader, word: string, value: boolean | null): JsonLiteral | undefined {
  const start = reader.offset;
  if (!reader.text.startsWith(word, start)) return fail(reader, 'unexpected character');
  reader.offset = start + word.length;
  return { kind: 'literal', value, start, end: reader.offset };
}
