/**
 * A JSON object with unknown members. If a value has the wrong type, the functions below return a
 * default: `{}`, `[]`, null or -1.
 */
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
 * Converts credits to micros. Exact for amounts below 10⁹ credits with six decimals. Returns -1 if
 * the value is not a number.
 */
export function microsOf(value: unknown): bigint {
  return typeof value === 'number' ? BigInt(Math.round(value * 1e6)) : -1n;
}

export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
