import path from 'node:path';
import {
  areUsable,
  canFetchPackages,
  fetchPackages,
  type KeptPrograms,
  libraryPath,
  onPath,
  tryProgram,
} from './debian-packages.ts';
import { cacheDir } from './paths.ts';
import { StartError } from './start-error.ts';

export interface RedisBinary {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

const advice =
  'Install redis-server or valkey-server (Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis), or set REDIS_URL to your own Redis, 6.2 or later.';

/**
 * Finds a Redis server. If there is none, calls `onFetch` and downloads Debian's package. Throws
 * StartError if that is not possible.
 */
export async function redisBinary(
  onFetch: () => void = () => {},
  dir = path.join(cacheDir, 'redis'),
): Promise<RedisBinary> {
  const installed = onPath('redis-server') ?? onPath('valkey-server');
  if (installed !== undefined) return { file: installed, env: {} };
  const kept = { dir, tryOut };
  if (!(await areUsable(kept))) {
    if (!canFetchPackages()) throw new StartError('There is no Redis on this machine.', advice);
    onFetch();
    await fetchRedis(kept);
  }
  return binaryIn(dir);
}

function binaryIn(root: string): RedisBinary {
  return { file: path.join(root, 'usr/bin/redis-server'), env: libraryPath(root) };
}

async function tryOut(root: string): Promise<void> {
  const { file, env } = binaryIn(root);
  await tryProgram(file, env);
}

async function fetchRedis(kept: KeptPrograms): Promise<void> {
  try {
    await fetchPackages(kept, ['redis-server']);
  } catch (error) {
    throw new StartError('Redis could not be fetched from the Debian packages.', advice, {
      cause: error,
    });
  }
}
