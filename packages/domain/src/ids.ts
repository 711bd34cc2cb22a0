import { fromString, fromUUID, toUUID } from 'typeid-js';

/** Kinds of ids on the wire (CONTRACT 0): each a TypeID over a UUIDv7. */
export const idPrefixes = ['sub', 'tnt', 'nod', 'dlv', 'evt', 'op', 'ofr', 'pur', 'txn'] as const;
export type IdPrefix = (typeof idPrefixes)[number];

/** 128 bits in 26 characters of Crockford's alphabet, lower case: the first has only three bits. */
const suffixPattern = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** The id on the wire of a lower-case, dashed UUID. */
export function toWireId(prefix: IdPrefix, uuid: string): string {
  return fromUUID(uuid, prefix);
}

/**
 * The UUID of an id on the wire; undefined for anything malformed or of another prefix, which is
 * answered like an id that nobody has (CONTRACT 1).
 */
export function fromWireId(prefix: IdPrefix, text: string): string | undefined {
  const suffix = text.slice(prefix.length + 1);
  if (!text.startsWith(`${prefix}_`) || !suffixPattern.test(suffix)) return undefined;
  try {
    return toUUID(fromString(text, prefix));
  } catch {
    // Well-formed base32 of 128 bits that are no UUID.
    return undefined;
  }
}
