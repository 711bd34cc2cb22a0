import { memberOf, membersOf, textOf } from '../reading/read-json.ts';
import { formats, members, parameters, standardFormats } from './members.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * Adds descriptions, examples and formats to the members of a schema. In a response, each `enum`
 * also allows any other string.
 */
export function annotated(
  schema: unknown,
  /** The name of the schema or operation, or the type of the event. */
  name: string,
  direction: 'request' | 'response',
): unknown {
  return direction === 'response' ? opened(described(schema, name)) : described(schema, name);
}

function mapped(value: unknown, change: (inner: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(membersOf(value).map(([key, inner]) => [key, change(inner)]));
}

function described(schema: unknown, name: string): unknown {
  const whole = mapped(schema, (inner) => described(inner, name));
  const format = standardFormats[String(memberOf(whole, 'format'))];
  const standard = format === undefined ? whole : { ...Object(whole), format };
  const properties = memberOf(standard, 'properties');
  if (properties === undefined) return standard;
  if (membersOf(properties).length === 0)
    return { ...Object(standard), additionalProperties: true };
  const annotatedMembers = membersOf(properties).map(([member, part]) => [
    member,
    withNotes(part, entry(members, name, member), entry(formats, name, member)),
  ]);
  return { ...Object(standard), properties: Object.fromEntries(annotatedMembers) };
}

function entry<Entry>(
  entries: Readonly<Record<string, Entry>>,
  name: string,
  member: string,
): Entry | undefined {
  return entries[`${name}.${member}`] ?? entries[member];
}

function withNotes(
  schema: unknown,
  notes: readonly [string, unknown] | undefined,
  format: object | undefined,
): Schema {
  const unit = textOf(memberOf(schema, 'description'));
  const constant = memberOf(schema, 'const');
  if (notes === undefined) return { ...Object(schema), ...withFormat(schema, format) };
  const [description, usual] = notes;
  const example = constant ?? usual;
  return {
    ...Object(schema),
    ...withFormat(schema, format),
    description: unit === '' ? description : `${description} ${unit}`,
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

/** Only a string schema gets the format. In a union, only the string variants get it. */
function withFormat(schema: unknown, format: object | undefined): object {
  if (format === undefined) return {};
  const variants = memberOf(schema, 'anyOf');
  if (!Array.isArray(variants)) return isString(schema) ? format : {};
  return {
    anyOf: variants.map((one: unknown) => (isString(one) ? { ...Object(one), ...format } : one)),
  };
}

function isString(schema: unknown): boolean {
  return memberOf(schema, 'type') === 'string';
}

export function annotatedParameter(
  name: string,
  schema: unknown,
): {
  readonly description?: string;
  readonly schema: unknown;
  readonly example?: unknown;
} {
  const notes = parameters[name];
  const { description: _, ...rest }: Schema = {
    ...Object(described(schema, '')),
    ...formats[name],
  };
  const values = memberOf(rest, 'enum');
  const typed = Array.isArray(values) ? { type: 'string', ...rest } : rest;
  if (notes === undefined) return { schema: typed };
  const [description, example] = notes;
  const shown: unknown = example ?? (Array.isArray(values) ? values[0] : undefined);
  return { description, schema: typed, ...(shown === undefined ? {} : { example: shown }) };
}

/**
 * Makes each list of values allow any other string. Generated clients then accept a value that the
 * service adds later (decision 11).
 */
function opened(schema: unknown): unknown {
  const values = valuesOf(schema);
  if (values === undefined) return mapped(schema, opened);
  const { enum: _, anyOf: _anyOf, ...rest }: Schema = Object(schema);
  return { ...rest, anyOf: [{ type: 'string', enum: values }, { type: 'string' }] };
}

function valuesOf(schema: unknown): readonly unknown[] | undefined {
  const values = memberOf(schema, 'enum');
  if (Array.isArray(values)) return values;
  const variants = memberOf(schema, 'anyOf');
  if (!Array.isArray(variants)) return undefined;
  const constants = variants.map((one: unknown) => memberOf(one, 'const'));
  return constants.every((one) => typeof one === 'string') ? constants : undefined;
}
