import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  areUsable,
  canFetchPackages,
  fetchFromRelease,
  libraryPath,
  onPath,
  tryProgram,
} from '../debian-packages.ts';
import { cacheDir } from '../paths.ts';
import { runCommand } from '../run-command.ts';
import { StartError } from '../start-error.ts';

/** The first version of PgBouncer that supports prepared statements in transaction mode. */
const versionMin = [1, 21] as const;

/** Debian 12 has PgBouncer 1.18, so the package and its libraries come from Debian 13. */
const release = 'trixie';
const packages = [
  'pgbouncer',
  'libc6',
  'libaudit1',
  'libcap-ng0',
  'libcap2',
  'libcares2',
  'libevent-2.1-7t64',
  'libpam0g',
  'libssl3t64',
  'libsystemd0',
  'libzstd1',
  'zlib1g',
];
const kept = {
  dir: path.join(cacheDir, 'pgbouncer'),
  finish: writeStarter,
  tryOut: (root: string) => tryProgram(starterIn(root)),
};

function starterIn(root: string): string {
  return path.join(root, 'run');
}

const advice = 'Install PgBouncer 1.21 or newer (Debian 13: apt-get install pgbouncer).';

/**
 * Returns the path of a PgBouncer of at least `versionMin`. If there is none, calls `onFetch` and
 * downloads one. Throws StartError if that is not possible.
 */
export async function pgbouncerBinary(onFetch: () => void = () => {}): Promise<string> {
  const installed = onPath('pgbouncer');
  if (installed !== undefined && isNewEnough(await runCommand([installed, '--version'])))
    return installed;
  if (await areUsable(kept)) return starterIn(kept.dir);
  if (!canFetchPackages())
    throw new StartError('There is no PgBouncer 1.21 or newer on this machine.', advice);
  onFetch();
  try {
    await fetchFromRelease(kept, release, packages);
  } catch (error) {
    const message = 'PgBouncer could not be fetched from the Debian packages.';
    throw new StartError(message, advice, { cause: error });
  }
  return starterIn(kept.dir);
}

function isNewEnough(versionText: string): boolean {
  const [, major = '0', minor = '0'] = /PgBouncer (\d+)\.(\d+)/.exec(versionText) ?? [];
  const [majorMin, minorMin] = versionMin;
  return Number(major) > majorMin || (Number(major) === majorMin && Number(minor) >= minorMin);
}

/**
 * Writes a script that starts the unpacked PgBouncer with its libraries. It ends with `exec`, so
 * that PgBouncer has the script's process id.
 */
function writeStarter(unpacked: string): void {
  const libraries = libraryPath(unpacked).LD_LIBRARY_PATH.replaceAll(unpacked, '$root');
  const libraryDirs = libraryPath(unpacked).LD_LIBRARY_PATH.split(':');
  // The script uses the unpacked loader, because the loader and the C library must be of the same
  // release.
  const loader = libraryDirs
    .flatMap((dir) => readdirSync(dir).map((name) => path.join(dir, name)))
    .find((file) => path.basename(file).startsWith('ld-linux'));
  if (loader === undefined) throw new Error('the fetched packages contain no dynamic loader');
  const script = `#!/bin/sh
root=$(cd "$(dirname "$0")" && pwd)
exec "${loader.replace(unpacked, '$root')}" --library-path "${libraries}" "$root/usr/sbin/pgbouncer" "$@"
`;
  const file = starterIn(unpacked);
  writeFileSync(file, script);
  chmodSync(file, 0o755);
}
