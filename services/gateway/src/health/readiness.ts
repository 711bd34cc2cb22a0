import { type connectRedis, pingRedis } from '@svc/queue';
import { missingDependencies } from '@svc/runtime';
import { ping, type Store } from '@svc/store';

/**
 * The names of unavailable dependencies that each request to the API needs. Redis is not one of
 * them, because reads and cancels work without it.
 */
export function missingForReads(store: Store): Promise<string[]> {
  return missingDependencies({ postgres: () => ping(store) });
}

export function missingForAll(
  store: Store,
  redis: ReturnType<typeof connectRedis>,
): Promise<string[]> {
  return missingDependencies({ postgres: () => ping(store), redis: () => pingRedis(redis) });
}
