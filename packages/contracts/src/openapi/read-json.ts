/** A document is plain JSON: what is not where it is looked for is undefined. */

export function memberOf(value: unknown, name: string): unknown {
  return new Map(membersOf(value)).get(name);
}

export function membersOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
    : [];
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const pointerStart = '#/';

/** What a value is, or what its `$ref` refers to. */
export function resolveRef(document: unknown, value: unknown): unknown {
  const ref = textOf(memberOf(value, '$ref'));
  if (!ref.startsWith(pointerStart)) return value;
  return ref.slice(pointerStart.length).split('/').reduce<unknown>(memberOf, document);
}

/** The last word of a `$ref`: the name that the document gives a schema. */
export function refName(value: unknown): string {
  return textOf(memberOf(value, '$ref')).split('/').at(-1) ?? '';
}
