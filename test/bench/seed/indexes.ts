import type { Pool } from 'pg';

interface Index {
  readonly drop: string;
  readonly make: string;
}

/**
 * Drops the indexes of the tables, calls `write`, then creates the indexes again. If `write`
 * throws, the indexes stay dropped.
 */
export async function withoutIndexes(
  pool: Pool,
  tables: readonly string[],
  write: () => Promise<void>,
): Promise<void> {
  const { rows } = await pool.query<Index>(
    `SELECT CASE WHEN c.oid IS NULL THEN format('DROP INDEX %I', r.relname)
         ELSE format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname, c.conname) END AS drop,
       CASE WHEN c.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
         ELSE format('ALTER TABLE %I ADD CONSTRAINT %I %s', t.relname, c.conname, pg_get_constraintdef(c.oid))
       END AS make
     FROM pg_index i JOIN pg_class r ON r.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
       LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u')
     WHERE t.relname = ANY($1) AND t.relnamespace = current_schema()::regnamespace`,
    [tables],
  );
  for (const { drop } of rows) await pool.query(drop);
  await write();
  for (const { make } of rows) await pool.query(make);
}
