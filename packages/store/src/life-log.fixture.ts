import { writeFileSync } from 'node:fs';
import type { Fixture } from './store.fixture.ts';

/**
 * Counts the WAL of a test run by table and index. Does nothing unless the environment variable
 * `LIFE_LOG` names a file for the result.
 */
export interface LifeLog {
  /**
   * Writes the average bytes and records of WAL per life of a submission to the file that
   * `LIFE_LOG` names. `lives` is the number of lives since `startLifeLog`.
   */
  report(lives: number): Promise<void>;
}

const file = process.env['LIFE_LOG'];

/**
 * WAL per life since the position $1, without images of whole pages. $2 is the number of lives. A
 * record counts only for the first relation that it changes.
 */
const recordsSql = `
  WITH record AS (
    SELECT b.relfilenode, b.resource_manager || ' ' || b.record_type AS kind, b.record_length - b.block_fpi_length AS bytes
    FROM pg_get_wal_block_info($1::pg_lsn, pg_current_wal_flush_lsn(), false) b
    WHERE b.block_id = 0 AND b.reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
  )
  SELECT regexp_replace(c.relname, '_[0-9]{4}_[0-9]{2}', '') AS relation, r.kind,
    sum(r.bytes)::float8 / $2::float8 AS bytes, count(*)::float8 / $2::float8 AS records
  FROM record r JOIN pg_class c ON pg_relation_filenode(c.oid) = r.relfilenode
    AND c.relnamespace = current_schema()::regnamespace
  GROUP BY 1, 2 ORDER BY sum(sum(r.bytes)) OVER (PARTITION BY regexp_replace(c.relname, '_[0-9]{4}_[0-9]{2}', '')) DESC, 1, 3 DESC`;

interface LoggedRow {
  readonly relation: string;
  readonly kind: string;
  readonly bytes: number;
  readonly records: number;
}

export async function startLifeLog({ database }: Fixture): Promise<LifeLog> {
  if (file === undefined) return { report: () => Promise.resolve() };
  await database.query('CREATE EXTENSION IF NOT EXISTS pg_walinspect');
  const [start] = await database.query<{ lsn: string }>('SELECT pg_current_wal_flush_lsn() AS lsn');
  return {
    async report(lives) {
      const rows = await database.query<LoggedRow>(recordsSql, [start?.lsn, lives]);
      const all = rows.reduce((sum, { bytes }) => sum + bytes, 0);
      writeFileSync(
        file,
        `${['bytes records', ...rows.map(lineOf), `${all.toFixed(0)} in all`].join('\n')}\n`,
      );
    },
  };
}

function lineOf({ relation, kind, bytes, records }: LoggedRow): string {
  return `${bytes.toFixed(1)} ${records.toFixed(2)} ${relation} ${kind}`;
}
