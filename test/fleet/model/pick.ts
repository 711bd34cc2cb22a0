/** One of a list by a number, whatever its length; nothing of an empty one. */
export function pick<T>(list: readonly T[], n: number): T | undefined {
  return list[n % list.length];
}
