import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cacheDir, fetchPackages, libraryPath } from '@svc/local';

export interface PostgresPrograms {
  readonly binDir: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Finds an installed Postgres that has `pg_basebackup`. If there is none, downloads Debian's
 * package into `.local` once. The Postgres of `npm start` does not have `pg_basebackup`.
 */
export async function debianPostgres(): Promise<PostgresPrograms> {
  const installed = newest('/');
  if (installed !== undefined) return { binDir: installed, env: {} };
  const dir = path.join(cacheDir, 'postgresql');
  if (!existsSync(dir)) await fetchPackages(dir, ['postgresql']);
  const binDir = newest(dir);
  if (binDir === undefined)
    throw new Error(
      `pg_basebackup is missing in ${dir}: delete this directory to download Postgres again`,
    );
  return { binDir, env: libraryPath(dir) };
}

function newest(root: string): string | undefined {
  const found = globSync(path.join(root, 'usr/lib/postgresql/*/bin/pg_basebackup'));
  const file = found.toSorted((a, b) => versionOf(a) - versionOf(b)).at(-1);
  return file === undefined ? undefined : path.dirname(file);
}

/** The major version in `…/postgresql/15/bin/pg_basebackup`. */
function versionOf(file: string): number {
  return Number(path.basename(path.dirname(path.dirname(file))));
}

/**
 * True if the process `pid` is a Postgres that is ready. In `postmaster.pid`, the first line is the
 * id of the process, and the eighth line is its state.
 */
export function isPostgresUp(dataDir: string, pid: number): boolean {
  const file = path.join(dataDir, 'postmaster.pid');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines[0] === `${pid}` && ['ready', 'standby'].includes(lines[7]?.trim() ?? '');
}
