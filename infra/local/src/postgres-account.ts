import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, cpSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { checkoutDir } from './paths.ts';

/**
 * How to run Postgres under an account: a prefix for commands, and directories that the account can
 * reach. Root needs another account, because Postgres refuses to run as root.
 */
export interface PostgresAccount {
  readonly prefix: string[];
  /**
   * Returns `nativeDir`, or a copy if the account cannot reach `nativeDir`. The directory has bin/,
   * lib/ and share/.
   */
  binaries(nativeDir: string): string;
  /** Returns `dir`, or another directory if the account cannot reach `dir`. `dir` must exist. */
  place(dir: string): string;
  /**
   * Makes the account the owner of `file`, a file or directory that this process created. Does
   * nothing for the account that `asIs` returns, because this account owns `file` already.
   */
  give(file: string): void;
}

const nobody = 65_534;
/**
 * A command in this user namespace sees itself as `nobody`. Outside the namespace it is root, so it
 * owns root's files and can reach a checkout below /root.
 */
const userNamespace = ['unshare', '--user', `--map-user=${nobody}`, `--map-group=${nobody}`, '--'];
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'];

export function postgresAccount(): PostgresAccount {
  const prefix = unprivileged();
  return prefix === undefined ? nobodyAccount() : asIs(prefix);
}

/**
 * Returns a command prefix that takes root's privileges away. Empty if this process does not run as
 * root. Undefined if this process runs as root and cannot create a user namespace.
 */
export function unprivileged(): string[] | undefined {
  if (process.getuid?.() !== 0) return [];
  return succeeds([...userNamespace, 'true']) ? userNamespace : undefined;
}

function asIs(prefix: string[]): PostgresAccount {
  return { prefix, binaries: (nativeDir) => nativeDir, place: (dir) => dir, give: () => {} };
}

/** Returns the account `nobody`, for root in a container that forbids user namespaces. */
function nobodyAccount(): PostgresAccount {
  const reaches = (file: string) => succeeds([...asNobody, 'test', '-x', file]);
  const outside = path.join('/var/tmp', `svc-postgres-${shortHash(checkoutDir)}`);
  mkdirSync(outside, { recursive: true, mode: 0o755 });
  if (lstatSync(outside).uid !== 0)
    throw new Error(`${outside} does not belong to root. Remove it and start again.`);
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

/**
 * Copies a directory. An interruption leaves nothing at `to`, because the complete copy is renamed
 * at the end.
 */
function copyWhole(from: string, to: string): void {
  const partial = `${to}.${process.pid}`;
  cpSync(from, partial, { recursive: true, verbatimSymlinks: true });
  if (existsSync(to)) rmSync(partial, { recursive: true });
  else renameSync(partial, to);
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function succeeds([file = '', ...args]: string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}
