/**
 * Checks JSON text before it is parsed. The check takes linear time. It does not recurse, so deeply
 * nested text cannot exhaust the stack.
 */

export type JsonTextFault = 'too_deep' | 'nul' | 'lone_surrogate';

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;
const escapeLength = 6;

type Escaped = 'plain' | 'nul' | 'high' | 'low';

/**
 * Classifies the code unit of the `\uXXXX` escape at `offset`. Does not check the digits, because
 * the parser does so later.
 */
function escapedUnit(text: string, offset: number): Escaped {
  const unit = Number.parseInt(text.slice(offset + 2, offset + escapeLength), 16);
  if (unit === 0) return 'nul';
  if (unit >= 0xd800 && unit <= 0xdbff) return 'high';
  return unit >= 0xdc00 && unit <= 0xdfff ? 'low' : 'plain';
}

/**
 * `from` is after the opening quote. Returns the fault, or the offset after the closing quote.
 * Without a closing quote, the offset is at the end of the text or beyond.
 */
function scanString(text: string, from: number): number | JsonTextFault {
  let offset = from;
  while (offset < text.length) {
    const code = text.charCodeAt(offset);
    if (code === quote) return offset + 1;
    if (code !== backslash) {
      if (code === 0) return 'nul';
      offset += 1;
      continue;
    }
    if (text.charCodeAt(offset + 1) !== letterU) {
      offset += 2;
      continue;
    }
    const unit = escapedUnit(text, offset);
    if (unit === 'nul') return 'nul';
    offset += escapeLength;
    if (unit === 'plain') continue;
    const isPair =
      unit === 'high' &&
      text.charCodeAt(offset) === backslash &&
      text.charCodeAt(offset + 1) === letterU &&
      escapedUnit(text, offset) === 'low';
    if (!isPair) return 'lone_surrogate';
    offset += escapeLength;
  }
  return offset;
}

/**
 * Finds a fault that makes JSON text unsafe to parse or to pass on. Undefined if there is none,
 * even if the text is not JSON. The outermost array or object has depth 1.
 */
export function jsonTextFault(text: string, depthMax: number): JsonTextFault | undefined {
  if (!text.isWellFormed()) return 'lone_surrogate';
  let depth = 0;
  let offset = 0;
  while (offset < text.length) {
    const code = text.charCodeAt(offset);
    offset += 1;
    if (code === quote) {
      const end = scanString(text, offset);
      if (typeof end === 'string') return end;
      offset = end;
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > depthMax) return 'too_deep';
    } else if (code === 0x5d || code === 0x7d) {
      depth -= 1;
    }
  }
  return undefined;
}

const comma = 0x2c;

function isOpening(code: number | undefined): boolean {
  return code === 0x5b || code === 0x7b;
}

function isClosing(code: number | undefined): boolean {
  return code === 0x5d || code === 0x7d;
}

function isSpace(code: number | undefined): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/**
 * Counts the values of a JSON text in UTF-8 before it is parsed, and stops at `valuesMax`. Takes
 * linear time. For other bytes the number means nothing.
 */
export function countJsonValues(bytes: Uint8Array, valuesMax: number): number {
  // Each comma, and each array or object that is not empty, adds a value to the outermost one.
  let values = 1;
  for (let at = 0; at < bytes.length && values < valuesMax; at += 1) {
    const code = bytes[at];
    if (code === quote) {
      for (at += 1; at < bytes.length && bytes[at] !== quote; at += 1) {
        if (bytes[at] === backslash) at += 1;
      }
    } else if (code === comma) {
      values += 1;
    } else if (isOpening(code)) {
      let next = at + 1;
      while (isSpace(bytes[next])) next += 1;
      if (!isClosing(bytes[next])) values += 1;
      at = next - 1;
    }
  }
  return values;
}

export type BoundedJson =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly reason: JsonTextFault | 'too_large' | 'malformed' };

/** Parses JSON text within limits. `charactersMax` is in UTF-16 code units. Never throws. */
export function parseBoundedJson(
  text: string,
  { charactersMax, depthMax }: { readonly charactersMax: number; readonly depthMax: number },
): BoundedJson {
  if (text.length > charactersMax) return { kind: 'refused', reason: 'too_large' };
  const reason = jsonTextFault(text, depthMax);
  if (reason !== undefined) return { kind: 'refused', reason };
  try {
    return { kind: 'value', value: JSON.parse(text) };
  } catch {
    return { kind: 'refused', reason: 'malformed' };
  }
}
