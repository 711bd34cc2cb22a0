import { setTimeout as sleep } from 'node:timers/promises';

import { redisIsReady, type connectRedis, type Consumer, type DispatcherBus } from '@svc/queue';
import { ping, type Store } from '@svc/store';

/** A dependency that takes longer to answer counts as missing. */
const pingTimeoutMs = 2_000;

async function databaseAnswers(store: Store): Promise<boolean> {
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

/** The names of the dependencies that do not answer, listen or take work; empty means ready. */
export async function missingDependencies({
  store,
  redis,
  bus,
  consumer,
}: {
  readonly store: Store;
  readonly redis: ReturnType<typeof connectRedis>;
  readonly bus: DispatcherBus;
  readonly consumer: Consumer;
}): Promise<string[]> {
  const present = {
    postgres: await databaseAnswers(store),
    redis: redisIsReady(redis),
    bus: bus.isListening(),
    queue: consumer.isPolling(),
  };
  return Object.entries(present).flatMap(([name, isPresent]) => (isPresent ? [] : [name]));
}
