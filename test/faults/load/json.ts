/** Answers are looked at member by member, as by a client that knows nothing but the contract. */
export type Json = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/**
 * An amount in millionths of a credit; -1 where it is none, which no check takes for right. An
 * amount of less than 10⁹ credits with six decimals is exact as a double, so rounding restores it.
 */
export function microsOf(value: unknown): bigint {
  return typeof value === 'number' ? BigInt(Math.round(value * 1e6)) : -1n;
}

/** The same value, whatever the order of members. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
