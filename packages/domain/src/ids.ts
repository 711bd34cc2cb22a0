import { fromString, fromUUID, toUUID } from 'typeid-js';

/** The prefixes of the ids on the wire (CONTRACT 0). Each id is a TypeID over a UUIDv7. */
export const idPrefixes = [
  'sub',
  'tnt',
  'key',
  'nod',
  'dlv',
  'evt',
  'op',
  'ofr',
  'pur',
  'txn',
  'whe',
] as const;
export type IdPrefix = (typeof idPrefixes)[number];

/**
 * Matches a UUID's 128 bits in 26 characters of Crockford's alphabet, in lower case. The first
 * character has only three bits.
 */
const suffixPattern = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** The wire id of a UUID, which must be in lower case and with dashes. */
export function toWireId(prefix: IdPrefix, uuid: string): string {
  return fromUUID(uuid, prefix);
}

/**
 * The UUID of a wire id. Undefined if the id is malformed or has another prefix. Callers treat such
 * an id as unknown (CONTRACT 1).
 */
export function fromWireId(prefix: IdPrefix, text: string): string | undefined {
  const suffix = text.slice(prefix.length + 1);
  if (!text.startsWith(`${prefix}_`) || !suffixPattern.test(suffix)) return undefined;
  try {
    return toUUID(fromString(text, prefix));
  } catch {
    // The text is valid base32, but its 128 bits are not a UUID with a valid version and variant.
    return undefined;
  }
}
