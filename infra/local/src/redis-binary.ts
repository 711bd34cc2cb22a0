import { existsSync } from 'node:fs';
import path from 'node:path';
import { canFetchPackages, fetchPackages, libraryPath, onPath } from './debian-packages.ts';
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
export async function redisBinary(onFetch: () => void = () => {}): Promise<RedisBinary> {
  const installed = onPath('redis-server') ?? onPath('valkey-server');
  if (installed !== undefined) return { file: installed, env: {} };
  const dir = path.join(cacheDir, 'redis');
  if (!existsSync(dir)) {
    if (!canFetchPackages()) throw new StartError('There is no Redis on this machine.', advice);
    onFetch();
    await fetchRedis(dir);
  }
  return { file: path.join(dir, 'usr/bin/redis-server'), env: libraryPath(dir) };
}

async function fetchRedis(dir: string): Promise<void> {
  try {
    await fetchPackages(dir, ['redis-server']);
  } catch (error) {
    throw new StartError('Redis could not be fetched from the Debian packages.', advice, {
      cause: error,
    });
  }
}
