import { assertNever } from './assert.ts';
import { jsonPointer } from './json-document.ts';
import type { JsonMember, JsonNode, JsonObject } from './json-node.ts';

/**
 * Functions on a parsed JSON value. They may recurse, because the parser allows at most
 * `jsonDepthMax` levels.
 */

/**
 * Returns the same text for all spellings of a value (CONTRACT 3), except for numbers whose
 * exponent has more than 1,000 characters. Members of the same name keep their order.
 */
export function canonicalText(node: JsonNode): string {
  const writer = { text: '' };
  writeCanonical(node, writer);
  return writer.text;
}

interface Writer {
  text: string;
}

/**
 * All levels append to one text. If each level copied the text of the level below it, deep values
 * would take quadratic time.
 */
function writeCanonical(node: JsonNode, writer: Writer): void {
  switch (node.kind) {
    case 'literal':
      writer.text += String(node.value);
      return;
    case 'number':
      writer.text += canonicalNumber(node.text);
      return;
    case 'string':
      writer.text += JSON.stringify(node.value);
      return;
    case 'array':
      writer.text += '[';
      for (const item of node.items) {
        if (item !== node.items[0]) writer.text += ',';
        writeCanonical(item, writer);
      }
      writer.text += ']';
      return;
    case 'object':
      writer.text += '{';
      writeMembers(sortedByName(node.members), writer);
      writer.text += '}';
      return;
    default:
      assertNever(node);
  }
}

function writeMembers(members: readonly JsonMember[], writer: Writer): void {
  for (const member of members) {
    writer.text += member === members[0] ? '' : ',';
    writer.text += `${JSON.stringify(member.name)}:`;
    writeCanonical(member.value, writer);
  }
}

function sortedByName(members: readonly JsonMember[]): readonly JsonMember[] {
  return members.length < 2 ? members : members.toSorted(byName);
}

function byName(a: JsonMember, b: JsonMember): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

export function withDefaultString(node: JsonObject, name: string, value: string): JsonObject {
  if (node.members.some((member) => member.name === name)) return node;
  const added = { name, value: { kind: 'string', value, start: node.end, end: node.end } } as const;
  return { ...node, members: [...node.members, added] };
}

/**
 * The value for schema validation only. Do not pass it on, because numbers are rounded to doubles,
 * and arrays and objects deeper than `levels` are empty.
 */
export function plainValue(node: JsonNode, levels: number): unknown {
  switch (node.kind) {
    case 'literal':
    case 'string':
      return node.value;
    case 'number':
      return Number(node.text);
    case 'array':
      return levels === 0 ? [] : node.items.map((item) => plainValue(item, levels - 1));
    case 'object': {
      // Without a prototype, a member named `__proto__` is an ordinary member.
      const plain: Record<string, unknown> = { __proto__: null };
      if (levels === 0) return plain;
      for (const { name, value } of node.members) plain[name] = plainValue(value, levels - 1);
      return plain;
    }
    default:
      return assertNever(node);
  }
}

/**
 * JSON Pointers, relative to `node`, of the duplicate names in its objects; at most `pointersMax`.
 * The direct members named in `opaqueMembers` are not searched.
 */
export function duplicateNamePointers(
  node: JsonNode,
  opaqueMembers: readonly string[],
  pointersMax: number,
): string[] {
  const found: string[] = [];
  const path: (string | number)[] = [];
  const visit = (key: string | number, child: JsonNode): void => {
    path.push(key);
    walk(child);
    path.pop();
  };
  const walk = (current: JsonNode): void => {
    if (found.length >= pointersMax) return;
    if (current.kind === 'array') current.items.forEach((item, index) => visit(index, item));
    if (current.kind !== 'object') return;
    for (const name of current.duplicateNames) {
      if (found.length < pointersMax) found.push(jsonPointer([...path, name]));
    }
    for (const { name, value } of current.members) {
      if (current !== node || !opaqueMembers.includes(name)) visit(name, value);
    }
  };
  walk(node);
  return found;
}

/**
 * `shiftedExponent` converts exponents with at most this many characters to a number. Up to this
 * length the result is exact.
 */
const exactExponentLengthMax = 15;
/**
 * An exponent with more than this many characters stays text, because the time to convert it to a
 * bigint grows faster than its length.
 */
const comparedExponentLengthMax = 1000;

/**
 * The number as `<digits>e<exponent>`, without leading or trailing zeros in the digits. The text of
 * 1, 1.0 and 10e-1 is `1e0`. Zero is `0`.
 */
function canonicalNumber(text: string): string {
  // Fast path for a short whole number without the digit 0.
  if (/^-?[1-9]{1,15}$/.test(text)) return `${text}e0`;
  const negative = text.startsWith('-');
  const [mantissa = '', exponentText = '0'] = text.slice(negative ? 1 : 0).split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === '0') first += 1;
  if (first === digits.length) return '0';
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  const exponent = shiftedExponent(exponentText, digits.length - end - fraction.length);
  return `${negative ? '-' : ''}${digits.slice(first, end)}e${exponent}`;
}

function shiftedExponent(exponentText: string, shift: number): string {
  if (exponentText.length <= exactExponentLengthMax) return String(Number(exponentText) + shift);
  if (exponentText.length > comparedExponentLengthMax) return `${exponentText} shifted ${shift}`;
  return String(BigInt(exponentText) + BigInt(shift));
}
