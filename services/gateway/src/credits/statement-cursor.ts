import { createHmac } from 'node:crypto';
import type { EntryPlace } from '@svc/store';
import type { CursorPosition } from '../http/cursor.ts';

/**
 * The cursor of an account statement contains the ledger number of the page's last entry in place
 * of a time. The number is hidden, because it counts the entries of all tenants. The hidden number
 * is the XOR of the number and a keyed hash of the entry's id. If a client changes a cursor, it
 * only gets a page that begins at another entry of the same tenant.
 */

/**
 * The length of the mask in bytes. Five bytes hide ledger numbers below 2^40. These last 116 years
 * at a hundred submissions a second with three entries each. The hidden numbers are below 2^40 too,
 * so they fit in a cursor.
 */
const hiddenBytes = 5;

function mask(key: Uint8Array, id: string): bigint {
  const hash = createHmac('sha256', key).update(`statement cursor ${id}`).digest();
  return BigInt(hash.readUIntBE(0, hiddenBytes));
}

export function cursorOfPlace(key: Uint8Array, { id, sequence }: EntryPlace): CursorPosition {
  return { id, atMs: sequence === null ? 0 : Number(sequence ^ mask(key, id)) };
}

/**
 * Returns the place of the ledger entry that a cursor names. `atMs` is the hidden ledger number of
 * the entry. In a cursor from a gateway of an earlier version, `atMs` is 0, so the entry is found
 * by its id.
 */
export function placeOfCursor(key: Uint8Array, { id, atMs }: CursorPosition): EntryPlace {
  return { id, sequence: atMs === 0 ? null : BigInt(atMs) ^ mask(key, id) };
}
