import { createHmac } from 'node:crypto';
import type { EntryPlace } from '@svc/store';
import type { CursorPosition } from '../http/cursor.ts';

/**
 * The cursor of a statement has the number of its last entry in the place of the time. The number
 * counts the entries of all tenants, so it is hidden: it is combined with a keyed hash of the entry's
 * id. A changed cursor only begins at another entry of the same tenant.
 */

/** 2^40 entries last 116 years at a hundred submissions a second. It is below the cursor's largest time. */
const hiddenBytes = 5;

function mask(key: Uint8Array, id: string): bigint {
  const hash = createHmac('sha256', key).update(`statement cursor ${id}`).digest();
  return BigInt(hash.readUIntBE(0, hiddenBytes));
}

export function cursorOfPlace(key: Uint8Array, { id, sequence }: EntryPlace): CursorPosition {
  return { id, atMs: sequence === null ? 0 : Number(sequence ^ mask(key, id)) };
}

/** Gateways of an earlier version write zero, and find the entry by its id. */
export function placeOfCursor(key: Uint8Array, { id, atMs }: CursorPosition): EntryPlace {
  return { id, sequence: atMs === 0 ? null : BigInt(atMs) ^ mask(key, id) };
}
