import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { cacheDir } from './paths.ts';
import { runCommand } from './run-command.ts';
import { StartError } from './start-error.ts';

export interface RedisBinary {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

const advice =
  'Install redis-server or valkey-server (Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis), or set REDIS_URL to a Redis 7 of yours.';

/**
 * A Redis server to run: the one on the PATH, else Debian's package, unpacked below .local
 * without installing anything. No npm package ships one.
 * Throws StartError where there is none to be had.
 */
export async function redisBinary(onFetch: () => void = () => {}): Promise<RedisBinary> {
  const installed = onPath('redis-server') ?? onPath('valkey-server');
  if (installed !== undefined) return { file: installed, env: {} };
  const dir = path.join(cacheDir, 'redis');
  if (!existsSync(dir)) {
    if (onPath('apt-get') === undefined || onPath('dpkg-deb') === undefined) {
      throw new StartError('There is no Redis on this machine.', advice);
    }
    onFetch();
    await fetchInto(dir);
  }
  const lib = path.join(dir, 'usr/lib');
  const libraries = readdirSync(lib).filter((name) => name.endsWith('-linux-gnu'));
  return {
    file: path.join(dir, 'usr/bin/redis-server'),
    env: { LD_LIBRARY_PATH: libraries.map((name) => path.join(lib, name)).join(':') },
  };
}

function onPath(name: string): string | undefined {
  const dirs = (process.env['PATH'] ?? '').split(path.delimiter);
  return dirs.map((dir) => path.join(dir, name)).find((file) => existsSync(file));
}

/** Unpacks under another name first: a fetch that was cut short is never taken for whole. */
async function fetchInto(dir: string): Promise<void> {
  const work = `${dir}.${process.pid}`;
  const unpacked = path.join(work, 'root');
  for (const name of ['lists/partial', 'archives/partial', 'root']) {
    mkdirSync(path.join(work, name), { recursive: true });
  }
  try {
    await download(work);
    const archives = path.join(work, 'archives');
    for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb'))) {
      await runCommand(['dpkg-deb', '-x', path.join(archives, file), unpacked]);
    }
    if (!existsSync(dir)) renameSync(unpacked, dir);
  } catch (error) {
    throw new StartError('Redis could not be fetched from the Debian packages.', advice, {
      cause: error,
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** apt with lists, cache and lock of its own: needs no root and changes nothing on the machine. */
async function download(work: string): Promise<void> {
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
    'redis-server',
  ]);
}
