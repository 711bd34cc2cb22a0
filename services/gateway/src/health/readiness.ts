import { type connectRedis, redisIsReady } from '@svc/queue';
import { missingDependencies } from '@svc/runtime';
import { ping, type Store } from '@svc/store';

/** What the gateway cannot do anything without: Redis is not, as reads and cancels go on. */
export function missingForReads(store: Store): Promise<string[]> {
  return missingDependencies({ postgres: () => ping(store) });
}

/** The names of the dependencies that do not answer, as `GET /ready` shows them. */
export function missingForAll(
  store: Store,
  redis: ReturnType<typeof connectRedis>,
): Promise<string[]> {
  return missingDependencies({ postgres: () => ping(store), redis: () => redisIsReady(redis) });
}
