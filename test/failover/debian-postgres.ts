import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { areUsable, cacheDir, fetchPackages, libraryPath, tryProgram } from '@svc/local';

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
  const kept = { dir, tryOut };
  if (!(await areUsable(kept))) await fetchPackages(kept, ['postgresql']);
  return programsIn(dir);
}

function programsIn(root: string): PostgresPrograms {
  const binDir = newest(root);
  if (binDir === undefined) throw new Error(`pg_basebackup is missing in ${root}`);
  return { binDir, env: libraryPath(root) };
}

async function tryOut(root: string): Promise<void> {
  const { binDir, env } = programsIn(root);
  for (const name of ['initdb', 'pg_basebackup', 'pg_ctl', 'postgres']) {
    await tryProgram(path.join(binDir, name), env);
  }
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
