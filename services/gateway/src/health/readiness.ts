import { type connectRedis, pingRedis } from '@svc/queue';
import { missingDependencies } from '@svc/runtime';
import { hasMasterKeys } from '@svc/startup';
import { ping, type Store } from '@svc/store';

/**
 * Returns the names of the unavailable dependencies that reads need. Redis is not checked, because
 * reads and cancels work without it.
 */
export function missingForReads(store: Store): Promise<string[]> {
  return missingDependencies({
    postgres: () => ping(store),
    masterKey: () => hasMasterKeys(store),
  });
}

export function missingForAll(
  store: Store,
  redis: ReturnType<typeof connectRedis>,
): Promise<string[]> {
  return missingDependencies({
    postgres: () => ping(store),
    masterKey: () => hasMasterKeys(store),
    redis: () => pingRedis(redis),
  });
}
