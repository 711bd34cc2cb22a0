import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from './run-command.ts';

/**
 * Unpacks programs from Debian packages without installing them, because npm has no such packages.
 */

export function onPath(name: string): string | undefined {
  const dirs = (process.env['PATH'] ?? '').split(path.delimiter);
  return dirs.map((dir) => path.join(dir, name)).find((file) => existsSync(file));
}

export function canFetchPackages(): boolean {
  return onPath('apt-get') !== undefined && onPath('dpkg-deb') !== undefined;
}

/**
 * Unpacks the packages and their missing dependencies into `dir`. Unpacks under another name first,
 * so that an interrupted fetch is never used. `finish` completes the unpacked files.
 */
export async function fetchPackages(
  dir: string,
  packages: readonly string[],
  finish: (unpacked: string) => void = () => {},
): Promise<void> {
  const work = `${dir}.${process.pid}`;
  const unpacked = path.join(work, 'root');
  for (const name of ['lists/partial', 'archives/partial', 'root']) {
    mkdirSync(path.join(work, name), { recursive: true });
  }
  try {
    await download(work, packages);
    const archives = path.join(work, 'archives');
    for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb'))) {
      await runCommand(['dpkg-deb', '-x', path.join(archives, file), unpacked]);
    }
    finish(unpacked);
    if (!existsSync(dir)) renameSync(unpacked, dir);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Runs apt with its own lists, cache and lock. Needs no root and changes nothing on the machine.
 */
async function download(work: string, packages: readonly string[]): Promise<void> {
  const options = [
    `Dir::State::lists=${work}/lists`,
    `Dir::Cache=${work}`,
    `Dir::Cache::archives=${work}/archives`,
    'Debug::NoLocking=1',
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
  const apt = ['apt-get', ...options, '-qq'];
  await runCommand([...apt, 'update']);
  await runCommand([
    ...apt,
    '-y',
    '--no-install-recommends',
    '--download-only',
    'install',
    ...packages,
  ]);
}

/** The library path for programs unpacked in `dir`, with all subdirectories of their libraries. */
export function libraryPath(dir: string): { readonly LD_LIBRARY_PATH: string } {
  const lib = path.join(dir, 'usr/lib');
  const own = readdirSync(lib).filter((name) => name.endsWith('-linux-gnu'));
  const dirs = own.flatMap((name) => [
    path.join(lib, name),
    ...readdirSync(path.join(lib, name), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => path.join(lib, name, entry.name)),
  ]);
  return { LD_LIBRARY_PATH: dirs.join(':') };
}
