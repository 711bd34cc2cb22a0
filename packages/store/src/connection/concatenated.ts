/**
 * Joins all parts into one binary parameter. An array would cost more, because `pg` sends the
 * elements of an array as text. A statement takes a part out with `substring`: the part begins at
 * the byte offset `from`, counted from 0, and ends before the offset `to`.
 */
export function concatenated(parts: readonly Uint8Array[]) {
  const from: number[] = [];
  const to: number[] = [];
  let length = 0;
  for (const part of parts) {
    from.push(length);
    to.push((length += part.byteLength));
  }
  return { bytes: Buffer.concat(parts, length), from, to };
}
