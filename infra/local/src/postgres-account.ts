import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, cpSync, existsSync, lstatSync, mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { checkoutDir } from './paths.ts';

/**
 * Postgres refuses to run as root. This is how it is run all the same: the words before its
 * commands, and where its files must then lie.
 */
export interface PostgresAccount {
  readonly prefix: string[];
  /** The directory with bin/, lib/ and share/, as that account reaches it. */
  binaries(nativeDir: string): string;
  /** A directory in place of `dir`, which must exist, where that account cannot reach it. */
  place(dir: string): string;
  /** Makes a file or directory that account's own. */
  give(file: string): void;
}

const nobody = 65_534;
const userNamespace = ['unshare', '--user', `--map-user=${nobody}`, `--map-group=${nobody}`, '--'];
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'];

export function postgresAccount(): PostgresAccount {
  if (process.getuid?.() !== 0) return asIs([]);
  // Under another id in a user namespace the server still reaches a checkout below /root, and its
  // files stay root's own.
  if (succeeds([...userNamespace, 'true'])) return asIs(userNamespace);
  return nobodyAccount();
}

function asIs(prefix: string[]): PostgresAccount {
  return { prefix, binaries: (nativeDir) => nativeDir, place: (dir) => dir, give: () => {} };
}

/** Where a container forbids user namespaces: nobody, and copies of what nobody cannot reach. */
function nobodyAccount(): PostgresAccount {
  const reaches = (file: string) => succeeds([...asNobody, 'test', '-x', file]);
  const outside = path.join('/var/tmp', `svc-postgres-${shortHash(checkoutDir)}`);
  mkdirSync(outside, { recursive: true, mode: 0o755 });
  if (lstatSync(outside).uid !== 0) throw new Error(`${outside} belongs to somebody else`);
  return {
    prefix: asNobody,
    binaries(nativeDir) {
      if (reaches(path.join(nativeDir, 'bin/postgres'))) return nativeDir;
      const copy = path.join(outside, `native-${shortHash(nativeDir)}`);
      if (!existsSync(copy)) copyWhole(nativeDir, copy);
      return copy;
    },
    place(dir) {
      if (reaches(dir)) return dir;
      const instead = path.join(outside, shortHash(dir));
      mkdirSync(instead, { recursive: true, mode: 0o755 });
      return instead;
    },
    give: (file) => chownSync(file, nobody, nobody),
  };
}

/** Copies under another name first, so that a copy that was cut short is never taken for whole. */
function copyWhole(from: string, to: string): void {
  const partial = `${to}.${process.pid}`;
  cpSync(from, partial, { recursive: true, verbatimSymlinks: true });
  if (existsSync(to)) return;
  renameSync(partial, to);
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function succeeds([file = '', ...args]: string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}
