/** An element of a list, chosen by any number. Undefined if the list is empty. */
export function pick<T>(list: readonly T[], n: number): T | undefined {
  return list[n % list.length];
}
