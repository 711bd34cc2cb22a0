import type { Store } from '../connection/store.ts';
import { Prisma } from '../generated/client.ts';

export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The column name in the `Place` of the values, if it differs from the name in `column`. */
  readonly boundTo?: string;
  /** The row's key columns with their types. Default: `id`, a UUID. */
  readonly key?: readonly (readonly [name: string, type: string])[];
  /** SQL for the tenant to which the values are bound (`Place`). Default: null. */
  readonly tenant?: string;
  /** SQL for the kind to which the values are bound. Default: null. */
  readonly kind?: string;
}

/**
 * Every column that holds sealed values. A test compares the list with the schema, because the
 * values of an omitted column would be lost with the old key.
 */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'operators', column: 'secret_sealed' },
  { table: 'nodes', column: 'secret_sealed', kind: 'secret_version::text' },
  {
    table: 'nodes',
    column: 'previous_secret_sealed',
    // A rotation copies `secret_sealed` into this column without sealing it again.
    boundTo: 'secret_sealed',
    kind: '(secret_version - 1)::text',
  },
  { table: 'tenant_secrets', column: 'sealed', tenant: 'tenant_id', kind: 'kind' },
  { table: 'tenant_secrets', column: 'limits_sealed', tenant: 'tenant_id', kind: 'kind' },
  {
    table: 'webhook_endpoints',
    column: 'secret_sealed',
    tenant: 'tenant_id',
    kind: 'secret_version::text',
  },
  {
    table: 'webhook_endpoints',
    column: 'previous_secret_sealed',
    boundTo: 'secret_sealed',
    tenant: 'tenant_id',
    kind: '(secret_version - 1)::text',
  },
  { table: 'submissions', column: 'payload_sealed', tenant: 'tenant_id', kind: 'job_type' },
  { table: 'submissions', column: 'outcome_sealed', tenant: 'tenant_id', kind: 'outcome_kind' },
  { table: 'events', column: 'body_sealed', tenant: 'tenant_id', kind: 'type' },
  {
    table: 'delivery_attempts',
    column: 'response_sealed',
    key: [
      ['delivery_id', 'uuid'],
      ['round', 'int'],
      ['number', 'int'],
    ],
    tenant: '(SELECT d.tenant_id FROM deliveries d WHERE d.id = delivery_attempts.delivery_id)',
  },
  { table: 'audit_head', column: 'head_sealed', key: [['id', 'smallint']] },
  {
    table: 'ledger_checkpoints',
    column: 'sealed',
    key: [['tenant_id', 'uuid']],
    tenant: 'tenant_id',
  },
  { table: 'ledger_audit', column: 'state_sealed', key: [['id', 'smallint']] },
  // This column is resealed last. If its value is sealed for its complete place
  // (`sealing-phase.ts`), so are all other values.
  {
    table: 'environment',
    column: 'request_hash_key_sealed',
    key: [['id', 'smallint']],
    kind: 'name',
  },
];

export interface ResealedPage {
  looked: number;
  resealed: number;
  /**
   * The number of values that were skipped, because another writer changed or deleted them in the
   * meantime.
   */
  changed: number;
  /**
   * The `after` of the next page. Null if this page has fewer than `rowsPerPage` rows, because then
   * this page is the last one.
   */
  next: string | null;
}

const rowsPerPage = 500;

/**
 * Seals the values of a page again if they have an older key, or are not bound to their complete
 * place. Throws if `SVC_MASTER_KEY` lacks the key of a value.
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
  const [tenant, kind] = [column.tenant, column.kind].map((sql) => Prisma.raw(sql ?? 'NULL'));
  const { text, values } = Prisma.sql`
    SELECT concat_ws(':', ${names}) AS id, ${tenant}::text AS "tenantId", ${kind}::text AS kind, CASE
        WHEN substring(${name} FROM 1 FOR ${sealer.prefix.byteLength}) <> ${sealer.prefix} THEN ${name}
      END AS sealed
    FROM ${from} WHERE ${behind} ORDER BY ${names} LIMIT ${rowsPerPage}`;
  const rows = await store.query<Omit<SealedRow, 'sealed'> & { sealed: Uint8Array | null }>(
    text,
    values,
  );
  // If retention has dropped the delivery of an attempt, nobody can open the attempt's value any
  // more. Retention drops the attempt next.
  const hasLostTenant = ({ tenantId }: { tenantId: string | null }) =>
    column.tenant !== undefined && tenantId === null;
  const old = rows.flatMap(({ sealed, ...row }) =>
    sealed === null || hasLostTenant(row) ? [] : [{ ...row, sealed }],
  );
  const resealed = old.length === 0 ? 0 : await writePage(store, column, old);
  const next = rows.length < rowsPerPage ? null : (rows.at(-1)?.id ?? null);
  return { looked: rows.length, resealed, changed: old.length - resealed, next };
}

interface SealedRow {
  readonly id: string;
  readonly tenantId: string | null;
  readonly kind: string | null;
  readonly sealed: Uint8Array;
}

type Key = NonNullable<SealedColumn['key']>;

function keyOf({ key = [['id', 'uuid']] }: SealedColumn): Key {
  return key;
}

/** SQL that splits a key, written as one text `a:b:c`, into its typed columns. */
function partsOf(key: Key, text: Prisma.Sql): Prisma.Sql {
  return Prisma.join(
    key.map(
      ([, type], index) =>
        Prisma.sql`split_part(${text}, ':', ${index + 1}::int)::${Prisma.raw(type)}`,
    ),
  );
}

async function writePage(
  { query, sealer }: Store,
  column: SealedColumn,
  rows: readonly SealedRow[],
): Promise<number> {
  const [from, name] = [Prisma.raw(column.table), Prisma.raw(column.column)];
  const key = keyOf(column);
  const keyNames = Prisma.join(key.map(([part]) => Prisma.raw(`${column.table}.${part}`)));
  const { table, boundTo = column.column } = column;
  const renewed = rows.map(({ id: row, tenantId, kind, sealed }) => {
    const place = { table, column: boundTo, tenantId, kind, row };
    return Buffer.from(sealer.seal(place, sealer.unseal(place, sealed)));
  });
  const { text, values } = Prisma.sql`
    UPDATE ${from} SET ${name} = r.new
    FROM unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ sealed }) => Buffer.from(sealed))}::bytea[],
      ${renewed}::bytea[]) AS r (id, old, new)
    WHERE (${keyNames}) = (${partsOf(key, Prisma.raw('r.id'))}) AND ${from}.${name} = r.old
    RETURNING 1`;
  return (await query(text, values)).length;
}

/**
 * The approximate number of rows to process, for a progress bar. A row counts once for each sealed
 * column of its table.
 */
export async function countSealedRows(store: Store): Promise<number> {
  const tables = sealedColumns.map(({ table }) => table);
  const [row] = await store.query<{ rows: number }>(
    `SELECT COALESCE(sum(GREATEST(c.reltuples, 0)), 0)::float8 AS rows
     FROM unnest($1::text[]) AS t (name) JOIN pg_class c ON c.relkind = 'r' AND (c.oid = t.name::regclass
       OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = t.name::regclass))`,
    [tables],
  );
  return Math.round(row?.rows ?? 0);
}
