/**
 * Functions that read plain JSON and do not throw. For a missing member or a wrong type, they
 * return undefined or an empty value.
 */

export function memberOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
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

/**
 * Returns the part of `document` at the `$ref` of `value`, or undefined if nothing is there.
 * Returns `value` itself if it has no `$ref` that begins with `#/`.
 */
export function resolveRef(document: unknown, value: unknown): unknown {
  const ref = textOf(memberOf(value, '$ref'));
  if (!ref.startsWith(pointerStart)) return value;
  return ref.slice(pointerStart.length).split('/').reduce<unknown>(memberOf, document);
}

/** The name of a shared schema or response: the last part of its `$ref`. Empty without a `$ref`. */
export function refName(value: unknown): string {
  return textOf(memberOf(value, '$ref')).split('/').at(-1) ?? '';
}
