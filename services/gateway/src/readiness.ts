import { setTimeout as sleep } from 'node:timers/promises';
import { type connectRedis, redisIsReady } from '@svc/queue';
import { ping, type Store } from '@svc/store';

/** A dependency that takes longer to answer counts as missing. */
const pingTimeoutMs = 2_000;

/** Whether Postgres answers: without it a gateway can do nothing. */
export async function databaseAnswers(store: Store): Promise<boolean> {
  const controller = new AbortController();
  const timeout = sleep(pingTimeoutMs, false, { signal: controller.signal }).catch(() => false);
  const answered = ping(store).then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answered, timeout]);
  } finally {
    controller.abort();
  }
}

/** The names of the dependencies that do not answer, as `GET /ready` shows them. */
export async function missingDependencies(
  store: Store,
  redis: ReturnType<typeof connectRedis>,
): Promise<string[]> {
  const missing = (await databaseAnswers(store)) ? [] : ['postgres'];
  return redisIsReady(redis) ? missing : [...missing, 'redis'];
}
