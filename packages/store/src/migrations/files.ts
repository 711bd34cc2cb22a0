import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

export const migrationsDirectory = path.resolve(
  import.meta.dirname,
  '../../../../prisma/migrations',
);

export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of `sql` in hex, as Prisma computes it. */
  readonly checksum: string;
}

/** Reads the migrations of a folder, in the order in which they are applied. */
export async function readMigrations(directory = migrationsDirectory): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.toSorted().map(async (name) => {
      const sql = await readFile(path.join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
