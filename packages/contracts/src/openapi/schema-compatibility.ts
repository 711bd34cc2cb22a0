import { standardFormats } from './annotations/members.ts';
import { compareConditions } from './conditions.ts';
import type { Comparison, Direction } from './reading/comparison.ts';
import { itemsOf, memberOf, membersOf, resolveRef } from './reading/read-json.ts';
import { listChanges, valueListOf } from './value-lists.ts';

/**
 * The values of these members may grow in answers: a client that does not know a new value can
 * still use the other members of the object.
 */
const growingMembers: readonly string[] = ['code', 'type'];

export function compareSchemas(
  context: Comparison,
  direction: Direction,
  at: string,
  was: unknown,
  now: unknown,
  memberName = '',
): void {
  const before = flattened(context.frozen, was);
  const after = flattened(context.present, now);
  const report = (what: string) => context.found.push(`${at}: ${what}`);
  compareValues(direction, before, after, memberName, report);
  if (valueListOf(before) !== undefined && valueListOf(after) !== undefined) return;
  compareTypes(direction, before, after, report);
  compareBounds(direction, before, after, at, report);
  compareRequired(direction, before, after, report);
  compareMembers(context, direction, at, before, after);
  compareVariants(context, direction, at, before, after);
  compareConditions(context, direction, at, was, now);
  const items = memberOf(before, 'items');
  if (items !== undefined) {
    compareSchemas(context, direction, `${at}[]`, items, memberOf(after, 'items'));
  }
}

function flattened(document: unknown, schema: unknown): unknown {
  const whole = resolveRef(document, schema);
  const parts = itemsOf(memberOf(whole, 'allOf')).map((part) => flattened(document, part));
  if (parts.length === 0) return whole;
  const all = [whole, ...parts];
  const properties = all.flatMap((part) => membersOf(memberOf(part, 'properties')));
  const required = new Set(all.flatMap((part) => itemsOf(memberOf(part, 'required'))));
  return Object.fromEntries([
    ...all.flatMap(membersOf),
    ['properties', Object.fromEntries(properties)],
    ['required', [...required]],
  ]);
}

type Report = (what: string) => void;

function typesOf(schema: unknown): unknown[] {
  return [memberOf(schema, 'type') ?? []].flat();
}

function compareTypes(direction: Direction, was: unknown, now: unknown, report: Report): void {
  const before = typesOf(was);
  const after = typesOf(now);
  const isTaken = (type: unknown) =>
    after.includes(type) || (type === 'integer' && after.includes('number'));
  const isSame = before.length === after.length && before.every((type) => after.includes(type));
  const isWider =
    direction === 'request' && (after.length === 0 || (before.length > 0 && before.every(isTaken)));
  if (!isSame && !isWider) report(`the type is ${inWords(after)} and was ${inWords(before)}`);
}

function inWords(types: readonly unknown[]): string {
  return types.length === 0 ? 'not limited' : types.join(' or ');
}

function compareValues(
  direction: Direction,
  was: unknown,
  now: unknown,
  memberName: string,
  report: Report,
): void {
  const before = valueListOf(was);
  const after = valueListOf(now);
  if (before !== undefined && after !== undefined) {
    const mayGrow = growingMembers.includes(memberName);
    for (const change of listChanges(direction, before, after, mayGrow)) report(change);
  } else if (direction === 'request') {
    if (after !== undefined) report('the schema allows only the listed values now');
  } else if (before !== after)
    report('only one of the old and the new schema has a list of values');
}

const lowerBounds = ['minLength', 'minimum', 'exclusiveMinimum', 'minItems', 'minProperties'];
const upperBounds = ['maxLength', 'maximum', 'exclusiveMaximum', 'maxItems', 'maxProperties'];
const fixedKeywords = ['pattern', 'format', 'multipleOf', 'default'];

/**
 * The OpenAPI document may add these formats and patterns to requests, because the service has
 * always checked them (decision 11).
 */
const documentedLater =
  /(query parameter (cursor|createdAfter|createdBefore)|\.webhookUrl): (format|pattern)$/;

function compareBounds(
  direction: Direction,
  was: unknown,
  now: unknown,
  at: string,
  report: Report,
): void {
  const sign = direction === 'request' ? 1 : -1;
  const bounded = [
    ...lowerBounds.map((keyword) => ({ keyword, sign, none: -Infinity })),
    ...upperBounds.map((keyword) => ({ keyword, sign: -sign, none: Infinity })),
  ];
  for (const { keyword, sign: up, none } of bounded) {
    const before = Number(memberOf(was, keyword) ?? none);
    const after = Number(memberOf(now, keyword) ?? none);
    if (up * after > up * before) report(`${keyword} is ${after} and was ${before}`);
  }
  for (const keyword of fixedKeywords) {
    const before = effective(was, keyword);
    const after = effective(now, keyword);
    const isLifted = direction === 'request' && after === undefined && keyword !== 'default';
    const isNew = before === undefined && keyword !== 'default';
    // A new format, pattern or `multipleOf` in an answer breaks no client.
    const isHarmless =
      isNew && (direction === 'response' || documentedLater.test(`${at}: ${keyword}`));
    if (before !== after && !isLifted && !isHarmless) {
      report(`${keyword} is ${JSON.stringify(after)} and was ${JSON.stringify(before)}`);
    }
  }
}

function effective(schema: unknown, keyword: string): unknown {
  const types = typesOf(schema);
  // A `pattern` checks only strings, so it has no effect if the schema does not allow strings.
  if (keyword === 'pattern' && types.length > 0 && !types.includes('string')) return undefined;
  const value = memberOf(schema, keyword);
  // Old documents contain formats that only our validator knows, such as `query-time`.
  return standardFormats[String(value)] ?? value;
}

function compareRequired(direction: Direction, was: unknown, now: unknown, report: Report): void {
  const before = itemsOf(memberOf(was, 'required'));
  const after = itemsOf(memberOf(now, 'required'));
  const [from, to] = direction === 'request' ? [after, before] : [before, after];
  const says = direction === 'request' ? 'is required now' : 'is optional now';
  for (const one of from) if (!to.includes(one)) report(`the member ${String(one)} ${says}`);
  if (direction === 'request' && isClosed(now) && !isClosed(was)) {
    report('further members are refused now');
  }
}

function isClosed(schema: unknown): boolean {
  return memberOf(schema, 'additionalProperties') === false;
}

function compareMembers(
  context: Comparison,
  direction: Direction,
  at: string,
  was: unknown,
  now: unknown,
): void {
  const before = memberOf(was, 'properties');
  const after = memberOf(now, 'properties');
  for (const [member, schema] of membersOf(before)) {
    const other = memberOf(after, member);
    const place = `${at}.${member}`;
    if (other === undefined) context.found.push(`${place}: the member is gone`);
    else compareSchemas(context, direction, place, schema, other, member);
  }
  if (direction === 'response' || isClosed(was)) return;
  for (const [member] of membersOf(after)) {
    if (memberOf(before, member) !== undefined) continue;
    context.found.push(`${at}.${member}: the member could have any value and has a schema now`);
  }
}

function variantsOf(schema: unknown): readonly unknown[] {
  return itemsOf(memberOf(schema, 'anyOf') ?? memberOf(schema, 'oneOf'));
}

/**
 * Each old variant needs a compatible new variant. In an answer, if a `code` or `type` tells the
 * variants apart, new variants may be added, or all may be removed.
 */
function compareVariants(
  context: Comparison,
  direction: Direction,
  at: string,
  was: unknown,
  now: unknown,
): void {
  const before = variantsOf(was);
  const after = variantsOf(now);
  // In requests, a schema without variants counts as one variant.
  if (before.length === 0 && (after.length === 0 || direction === 'request')) {
    if (after.length > 0) findLike(context, direction, at, was, after);
    return;
  }
  if (after.length === 0 && direction === 'request') {
    for (const variant of before) compareSchemas(context, direction, at, variant, now);
    return;
  }
  // All variants may be removed if a `code` or `type` tells them apart. `compareConditions` still
  // compares the members that each `code` requires.
  if (direction === 'response' && after.length === 0 && before.every(hasFixedCodeOrType)) return;
  for (const variant of before) findLike(context, direction, at, variant, after);
  if (direction === 'request' || before.every(hasFixedCodeOrType)) return;
  // Any other answer with variants must not get more variants.
  if (after.length > before.length) context.found.push(`${at}: a variant is new`);
}

function hasFixedCodeOrType(schema: unknown): boolean {
  const properties = memberOf(schema, 'properties');
  return growingMembers.some((name) => memberOf(memberOf(properties, name), 'const') !== undefined);
}

function findLike(
  context: Comparison,
  direction: Direction,
  at: string,
  variant: unknown,
  others: readonly unknown[],
): void {
  const attempts = others.map((other) => {
    const attempt: Comparison = { ...context, found: [] };
    compareSchemas(attempt, direction, at, variant, other);
    return attempt.found;
  });
  if (attempts.some((found) => found.length === 0)) return;
  const nearest = attempts.toSorted((a, b) => a.length - b.length)[0] ?? [];
  context.found.push(...(nearest.length > 0 ? nearest : [`${at}: a variant is gone`]));
}
