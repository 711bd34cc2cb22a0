/** The list that a cursor belongs to. A cursor of another list is refused. */
export type CursorKind = 'submissions' | 'transactions' | 'deliveries' | 'audit' | 'events';

/** The position after which the next page begins. */
export interface CursorPosition {
  /**
   * The id of the item at this position, or for `events` the id of the webhook endpoint. The id
   * always has the form of a UUID in lower case.
   */
  readonly id: string;
  /**
   * For `submissions` the creation time, for `transactions` the masked number of the entry
   * (`statement-cursor.ts`), for `events` a position among the events. Otherwise 0.
   */
  readonly atMs: number;
}

const kindBytes: Readonly<Record<CursorKind, number>> = {
  submissions: 1,
  transactions: 2,
  deliveries: 3,
  audit: 10,
  events: 4,
};
const idOffset = 7;
const cursorBytes = idOffset + 16;

/**
 * Encodes a cursor as opaque text that is safe in the query of a URL. The text contains only the
 * kind and the position.
 */
export function encodeCursor(kind: CursorKind, { id, atMs }: CursorPosition): string {
  const bytes = Buffer.alloc(cursorBytes);
  bytes.writeUInt8(kindBytes[kind], 0);
  bytes.writeUIntBE(atMs, 1, 6);
  bytes.write(id.replaceAll('-', ''), idOffset, 'hex');
  return bytes.toString('base64url');
}

/**
 * Decodes a cursor. Undefined if `text` is not exactly what `encodeCursor` returns for a cursor of
 * this kind, or if the cursor's `atMs` is above `cursorAtMsMax`.
 */
export function decodeCursor(kind: CursorKind, text: string): CursorPosition | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== cursorBytes || bytes.toString('base64url') !== text) return undefined;
  if (bytes.readUInt8(0) !== kindBytes[kind]) return undefined;
  const hex = bytes.toString('hex', idOffset);
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const atMs = bytes.readUIntBE(1, 6);
  // Six bytes can encode times after the year 9999. A cursor with such a time is refused.
  return atMs > cursorAtMsMax ? undefined : { id, atMs };
}

/** The last millisecond of the year 9999. */
const cursorAtMsMax = 253_402_300_799_999;
