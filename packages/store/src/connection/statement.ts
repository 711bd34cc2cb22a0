import type { QueryResultRow } from 'pg';
import type { Query } from './query.ts';

interface ParameterTypes {
  readonly bigint: bigint;
  readonly boolean: boolean;
  readonly bytea: Uint8Array;
  readonly int: number;
  /** JSON text. */
  readonly jsonb: string;
  /** A decimal text, so that no value becomes a binary float. */
  readonly numeric: string;
  readonly text: string;
  /** ISO 8601. */
  readonly timestamptz: string;
  readonly uuid: string;
}

type ParameterType = keyof ParameterTypes | `${keyof ParameterTypes}[]`;
export type NamedParameters = Readonly<Record<string, ParameterType>>;

type ValueOf<Type extends ParameterType> =
  Type extends `${infer Element extends keyof ParameterTypes}[]`
    ? readonly (ParameterTypes[Element] | null)[]
    : Type extends keyof ParameterTypes
      ? ParameterTypes[Type] | null
      : never;

export type ValuesOf<Named extends NamedParameters> = {
  readonly [Name in keyof Named]: ValueOf<Named[Name]>;
};

export type Statement<Named extends NamedParameters> = <Row extends QueryResultRow>(
  query: Query,
  values: ValuesOf<Named>,
) => Promise<Row[]>;

/**
 * A statement with named parameters: `$name` in `text` is cast to the type of `name` in
 * `parameters`. Throws if a name is only in `text` or only in `parameters`.
 */
export function statement<const Named extends NamedParameters>(
  parameters: Named,
  text: string,
): Statement<Named> {
  const names = Object.keys(parameters);
  const used = new Set<string>();
  const compiled = text.replaceAll(/\$([a-z]\w*)/g, (_, name: string) => {
    const type = parameters[name];
    if (type === undefined)
      throw new Error(`the statement uses $${name}, which is not among its parameters`);
    used.add(name);
    return `$${names.indexOf(name) + 1}::${type}`;
  });
  const unused = names.find((name) => !used.has(name));
  if (unused !== undefined) throw new Error(`the statement does not use its parameter $${unused}`);
  return (query, values) =>
    query(
      compiled,
      names.map((name) => values[name]),
    );
}
