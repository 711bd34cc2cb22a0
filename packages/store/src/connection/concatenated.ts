/**
 * Joins all parts into one binary parameter, because `pg` sends the elements of an array as text.
 * `from` and `to` are byte offsets. `to` is exclusive.
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
