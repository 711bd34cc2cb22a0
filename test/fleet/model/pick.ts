/** The element at `n` modulo the length of the list. Undefined if the list is empty. */
export function pick<T>(list: readonly T[], n: number): T | undefined {
  return list[n % list.length];
}
