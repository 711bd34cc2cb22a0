import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { runCommand } from './run-command.ts';

export function onPath(name: string): string | undefined {
  const dirs = (process.env['PATH'] ?? '').split(path.delimiter);
  return dirs.map((dir) => path.join(dir, name)).find((file) => existsSync(file));
}

export function canFetchPackages(): boolean {
  return onPath('apt-get') !== undefined && onPath('dpkg-deb') !== undefined;
}

/**
 * Downloads the packages and their dependencies, except installed ones, and unpacks them into
 * `dir`. Throws CommandError if a command fails.
 */
export async function fetchPackages(
  dir: string,
  packages: readonly string[],
  /** Called with the temporary directory of the unpacked files, before it is renamed to `dir`. */
  finish: (unpacked: string) => void = () => {},
): Promise<void> {
  await unpack(dir, finish, (work) => download(work, packages));
}

async function unpack(
  dir: string,
  finish: (unpacked: string) => void,
  fillArchives: (work: string) => Promise<void>,
): Promise<void> {
  const work = `${dir}.${process.pid}`;
  const unpacked = path.join(work, 'root');
  for (const name of ['lists/partial', 'archives/partial', 'root']) {
    mkdirSync(path.join(work, name), { recursive: true });
  }
  try {
    await fillArchives(work);
    const archives = path.join(work, 'archives');
    for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb'))) {
      await runCommand(['dpkg-deb', '-x', path.join(archives, file), unpacked]);
    }
    finish(unpacked);
    // The unpacked files are renamed to `dir` at the end, so that an interrupted fetch leaves no
    // `dir`.
    if (!existsSync(dir)) renameSync(unpacked, dir);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Like `fetchPackages`, but downloads exactly `packages`, from the Debian release `release`. Also
 * throws if `sourcesOfRelease` does.
 */
export async function fetchFromRelease(
  dir: string,
  release: string,
  /**
   * The packages of the programs to fetch, and of all their dependencies, such as the C library.
   * Leave out a dependency only if this machine has a version that the programs work with.
   */
  packages: readonly string[],
  finish: (unpacked: string) => void,
): Promise<void> {
  await unpack(dir, finish, async (work) => {
    const sources = path.join(work, 'sources');
    mkdirSync(sources);
    writeFileSync(path.join(sources, `${release}.sources`), sourcesOfRelease(release));
    const apt = [
      ...aptWith(work),
      '-o',
      'Dir::Etc::sourcelist=/dev/null',
      '-o',
      `Dir::Etc::sourceparts=${sources}`,
    ];
    await runCommand([...apt, 'update']);
    // `apt-get download` writes into the current directory, so `sh` first changes to `archives`.
    const inArchives = ['sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', `${work}/archives`];
    await runCommand([...inArchives, ...apt, 'download', ...packages]);
  });
}

const sourcesFile = '/etc/apt/sources.list.d/debian.sources';

function sourcesOfRelease(release: string): string {
  const stanzas = readFileSync(sourcesFile, 'utf8').split(/\n{2,}/);
  const main = stanzas.find((stanza) => /^Suites:.*\bbookworm(\s|$)/m.test(stanza));
  if (main === undefined) throw new Error(`${sourcesFile} has no entry for bookworm (Debian 12)`);
  return main.replace(/^Suites:.*$/m, `Suites: ${release}`);
}

async function download(work: string, packages: readonly string[]): Promise<void> {
  const apt = aptWith(work);
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

/**
 * The command `apt-get` with its lists and its cache in `work`, and without locks. It needs no
 * root, and changes nothing outside `work`.
 */
function aptWith(work: string): string[] {
  const options = [
    `Dir::State::lists=${work}/lists`,
    `Dir::Cache=${work}`,
    `Dir::Cache::archives=${work}/archives`,
    'Debug::NoLocking=1',
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
  return ['apt-get', ...options, '-qq'];
}

/** Returns the environment variable with which programs unpacked in `dir` find their libraries. */
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
