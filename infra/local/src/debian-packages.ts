import {
  existsSync,
  mkdirSync,
  mkdtempSync,
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

/** Programs of Debian's packages, which are downloaded once and then kept in `dir`. */
export interface KeptPrograms {
  readonly dir: string;
  /** Completes the unpacked files, before `tryOut`. */
  readonly finish?: (unpacked: string) => void;
  /** Runs each of the programs in `root`. Throws if one does not work. */
  readonly tryOut: (root: string) => Promise<void>;
}

/** False if `dir` does not exist, or if a program in it is missing, empty or lacks a library. */
export async function areUsable({ dir, tryOut }: KeptPrograms): Promise<boolean> {
  if (!existsSync(dir)) return false;
  return tryOut(dir).then(
    () => true,
    () => false,
  );
}

/** Runs the program `file` with `args`, and throws if it fails or prints nothing. */
export async function tryProgram(
  file: string,
  env: NodeJS.ProcessEnv = {},
  args: readonly string[] = ['--version'],
): Promise<void> {
  const output = await runCommand([file, ...args], { env: { ...process.env, ...env } });
  // A shell takes an empty file for a script that succeeds.
  if (output.trim() === '') throw new Error(`${file} prints no version`);
}

/**
 * Downloads the packages, with the dependencies that are not installed, and unpacks them into
 * `kept.dir`. Throws if no package arrives, or if a program does not work.
 */
export async function fetchPackages(
  kept: KeptPrograms,
  packages: readonly string[],
): Promise<void> {
  await unpack(kept, (work) => download(work, packages));
}

async function unpack(
  kept: KeptPrograms,
  fillArchives: (work: string) => Promise<void>,
): Promise<void> {
  mkdirSync(path.dirname(kept.dir), { recursive: true });
  const work = mkdtempSync(`${kept.dir}.`);
  const unpacked = path.join(work, 'root');
  for (const name of ['lists/partial', 'archives/partial', 'root']) {
    mkdirSync(path.join(work, name), { recursive: true });
  }
  try {
    await fillArchives(work);
    const archives = path.join(work, 'archives');
    const files = readdirSync(archives).filter((name) => name.endsWith('.deb'));
    if (files.length === 0) throw new Error('apt-get downloaded no package');
    for (const file of files) {
      await runCommand(['dpkg-deb', '-x', path.join(archives, file), unpacked]);
    }
    kept.finish?.(unpacked);
    await kept.tryOut(unpacked);
    await keep(unpacked, kept);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Renames `unpacked` to the directory of `kept`. If another process was faster, its programs stay,
 * because they may be running.
 */
async function keep(unpacked: string, kept: KeptPrograms): Promise<void> {
  if (await areUsable(kept)) return;
  if (existsSync(kept.dir)) renameSync(kept.dir, `${unpacked}.broken`);
  try {
    renameSync(unpacked, kept.dir);
  } catch (error) {
    if (!(await areUsable(kept))) throw error;
  }
}

/**
 * Like `fetchPackages`, but downloads exactly `packages`, from the Debian release `release`. Also
 * throws if `sourcesOfRelease` does.
 */
export async function fetchFromRelease(
  kept: KeptPrograms,
  release: string,
  /**
   * The packages of the programs to fetch, and of all their dependencies, such as the C library.
   * Leave out a dependency only if this machine has a version that the programs work with.
   */
  packages: readonly string[],
): Promise<void> {
  await unpack(kept, async (work) => {
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
