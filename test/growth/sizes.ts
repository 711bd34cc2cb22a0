import type { TestDatabase } from '@svc/testkit';

export interface TableSize {
  readonly rows: number;
  /** The size of the table and all its partitions, with their indexes and TOAST tables. */
  readonly bytes: number;
}

/** The service deletes rows of these tables, so the tables must stop growing. */
export const boundedTables = [
  'deliveries',
  'delivery_attempts',
  'usage_reports',
  'events',
  'node_link_signatures',
  'submissions_in_flight',
] as const;

export const keptTables = ['submissions', 'ledger_entries', 'audit_log', 'audit_chain'] as const;

export async function measureTables({
  query,
}: Pick<TestDatabase, 'query'>): Promise<Map<string, TableSize>> {
  const sizes = new Map<string, TableSize>();
  for (const table of [...boundedTables, ...keptTables]) {
    const [size] = await query<TableSize & Record<string, unknown>>(
      `SELECT (SELECT count(*)::int FROM ${table}) AS rows,
         (SELECT sum(pg_total_relation_size(part))::float8
          FROM (SELECT '${table}'::regclass UNION SELECT relid FROM pg_partition_tree('${table}')) AS parts (part)) AS bytes`,
    );
    if (size === undefined) throw new Error(`the measurement has no size of ${table}`);
    sizes.set(table, size);
  }
  return sizes;
}
