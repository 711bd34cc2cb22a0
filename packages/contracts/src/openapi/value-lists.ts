import { itemsOf, memberOf } from './reading/read-json.ts';

/** A list of values: an `enum`, a `const`, or an `anyOf` of such lists. */
export interface ValueList {
  readonly values: readonly unknown[];
  /**
   * True if the schema also allows any other string. If the schema belongs to a response, a later
   * version may then add values to the list. False for a closed list.
   */
  readonly isOpen: boolean;
}

export function valueListOf(schema: unknown): ValueList | undefined {
  const constant = memberOf(schema, 'const');
  if (constant !== undefined) return { values: [constant], isOpen: false };
  const values = memberOf(schema, 'enum');
  if (values !== undefined) return { values: itemsOf(values), isOpen: false };
  const variants = itemsOf(memberOf(schema, 'anyOf'));
  const lists = variants.map(valueListOf);
  const isOpen = variants.some((one, index) => lists[index] === undefined && isAnyString(one));
  if (lists.every((list) => list === undefined)) return undefined;
  const isOther = variants.some((one, index) => lists[index] === undefined && !isAnyString(one));
  if (isOther) return undefined;
  return { values: lists.flatMap((list) => list?.values ?? []), isOpen };
}

function isAnyString(schema: unknown): boolean {
  return memberOf(schema, 'type') === 'string';
}

/**
 * The breaking changes between an old and a new list. If `mayGrow` is true, even a closed list of
 * an answer may get new values.
 */
export function listChanges(
  direction: 'request' | 'response',
  was: ValueList,
  now: ValueList,
  mayGrow: boolean,
): string[] {
  const gone = was.values.filter((value) => !now.values.includes(value));
  if (direction === 'request') {
    if (now.isOpen) return [];
    const closed = was.isOpen ? ['the schema allows only the listed values now'] : [];
    return [...closed, ...gone.map((value) => `the value ${inWords(value)} is no longer accepted`)];
  }
  const added = now.values.filter((value) => !was.values.includes(value));
  return [
    ...gone.map((value) => `the value ${inWords(value)} is gone`),
    ...(was.isOpen && !now.isOpen ? ['the schema allows only the listed values now'] : []),
    ...(now.isOpen || mayGrow ? [] : added.map((value) => `the value ${inWords(value)} is new`)),
  ];
}

function inWords(value: unknown): string {
  return JSON.stringify(value);
}
