import { Prisma } from './generated/client.ts';
import type { Store } from './store.ts';

export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The column that its values are bound to, where that is another one. */
  readonly boundTo?: string;
  /** Its rows' key with types; where left out, `id`, a UUID. */
  readonly key?: readonly (readonly [name: string, type: string])[];
}

/**
 * Every column that holds sealed values. A test holds the list against the schema: what is left
 * out would be lost with the old key.
 */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'environment', column: 'request_hash_key_sealed', key: [['id', 'smallint']] },
  { table: 'operators', column: 'secret_sealed' },
  { table: 'nodes', column: 'secret_sealed' },
  // It is moved there as it was sealed.
  { table: 'nodes', column: 'previous_secret_sealed', boundTo: 'secret_sealed' },
  { table: 'tenant_secrets', column: 'sealed' },
  { table: 'submissions', column: 'payload_sealed' },
  { table: 'submissions', column: 'outcome_sealed' },
  { table: 'events', column: 'body_sealed' },
  {
    table: 'delivery_attempts',
    column: 'response_sealed',
    key: [
      ['delivery_id', 'uuid'],
      ['round', 'int'],
      ['number', 'int'],
    ],
  },
];

/** A page of rows looked at; `next` is where the following one begins, null behind the last. */
export interface ResealedPage {
  looked: number;
  resealed: number;
  next: string | null;
}

const rowsPerPage = 500;

/**
 * Seals a page of a column under the key that seals now. What is sealed under it already is passed
 * over, so that a rotation can be broken off and begun again at any time, and a value that has
 * changed meanwhile is left to whoever changed it. Throws where a value's key is not in the ring.
 */
export async function resealPage(
  store: Store,
  column: SealedColumn,
  after: string | null,
): Promise<ResealedPage> {
  const { sealer } = store;
  const [from, name] = [Prisma.raw(column.table), Prisma.raw(column.column)];
  const key = keyOf(column);
  const names = Prisma.join(key.map(([part]) => Prisma.raw(part)));
  const behind =
    after === null
      ? Prisma.sql`true`
      : Prisma.sql`(${names}) > (${partsOf(key, Prisma.sql`${after}::text`)})`;
  const rows = await store.db.$queryRaw<{ id: string; sealed: Uint8Array | null }[]>`
    SELECT concat_ws(':', ${names}) AS id, CASE
        WHEN substring(${name} FROM 1 FOR ${sealer.prefix.byteLength}) <> ${sealer.prefix} THEN ${name}
      END AS sealed
    FROM ${from} WHERE ${behind} ORDER BY ${names} LIMIT ${rowsPerPage}`;
  const old = rows.flatMap(({ id, sealed }) => (sealed === null ? [] : [{ id, sealed }]));
  const resealed = old.length === 0 ? 0 : await writePage(store, column, old);
  const next = rows.length < rowsPerPage ? null : (rows.at(-1)?.id ?? null);
  return { looked: rows.length, resealed, next };
}

type Key = NonNullable<SealedColumn['key']>;

function keyOf({ key = [['id', 'uuid']] }: SealedColumn): Key {
  return key;
}

/** The parts of a key that is written as one text, `a:b:c`. */
function partsOf(key: Key, text: Prisma.Sql): Prisma.Sql {
  return Prisma.join(
    key.map(
      ([, type], index) =>
        Prisma.sql`split_part(${text}, ':', ${index + 1}::int)::${Prisma.raw(type)}`,
    ),
  );
}

function writePage(
  { db, sealer }: Store,
  column: SealedColumn,
  rows: { id: string; sealed: Uint8Array }[],
): Promise<number> {
  const [from, name] = [Prisma.raw(column.table), Prisma.raw(column.column)];
  const key = keyOf(column);
  const keyNames = Prisma.join(key.map(([part]) => Prisma.raw(`${column.table}.${part}`)));
  const renewed = rows.map(({ id, sealed }) => {
    const binding = `${column.table}.${column.boundTo ?? column.column}:${id}`;
    return Buffer.from(sealer.seal(binding, sealer.unseal(binding, sealed)));
  });
  return db.$executeRaw`
    UPDATE ${from} SET ${name} = r.new
    FROM unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ sealed }) => Buffer.from(sealed))}::bytea[],
      ${renewed}::bytea[]) AS r (id, old, new)
    WHERE (${keyNames}) = (${partsOf(key, Prisma.raw('r.id'))}) AND ${from}.${name} = r.old`;
}

/** About how many rows there are to look at, for a progress bar. */
export async function countSealedRows(store: Store): Promise<number> {
  const tables = sealedColumns.map(({ table }) => table);
  const [row] = await store.db.$queryRaw<{ rows: number }[]>`
    SELECT COALESCE(sum(GREATEST(c.reltuples, 0)), 0)::float8 AS rows
    FROM unnest(${tables}::text[]) AS t (name) JOIN pg_class c ON c.oid = t.name::regclass`;
  return Math.round(row?.rows ?? 0);
}
