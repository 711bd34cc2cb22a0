/** Which list a cursor is of: one of another list is refused. */
export type CursorKind = 'submissions' | 'transactions' | 'deliveries';

/** Where a page ended: an item, and its time where the list goes by that. */
export interface CursorPosition {
  /** A UUID, lower case. */
  readonly id: string;
  readonly atMs: number;
}

const kindBytes: Readonly<Record<CursorKind, number>> = {
  submissions: 1,
  transactions: 2,
  deliveries: 3,
};
const idOffset = 7;
const cursorBytes = idOffset + 16;

/** A cursor as clients see it: opaque text, safe in a query. It holds nothing but the position. */
export function encodeCursor(kind: CursorKind, { id, atMs }: CursorPosition): string {
  const bytes = Buffer.alloc(cursorBytes);
  bytes.writeUInt8(kindBytes[kind], 0);
  bytes.writeUIntBE(atMs, 1, 6);
  bytes.write(id.replaceAll('-', ''), idOffset, 'hex');
  return bytes.toString('base64url');
}

/** Undefined for anything that `encodeCursor` did not make of this kind. */
export function decodeCursor(kind: CursorKind, text: string): CursorPosition | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== cursorBytes || bytes.toString('base64url') !== text) return undefined;
  if (bytes.readUInt8(0) !== kindBytes[kind]) return undefined;
  const hex = bytes.toString('hex', idOffset);
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const atMs = bytes.readUIntBE(1, 6);
  // Six bytes reach further than times do that a database knows.
  return atMs > cursorAtMsMax ? undefined : { id, atMs };
}

/** The last millisecond of the year 9999. */
const cursorAtMsMax = 253_402_300_799_999;
