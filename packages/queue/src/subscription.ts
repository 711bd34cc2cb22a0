import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { redisIsReady } from './redis.ts';

const retryMs = 1_000;

export interface Subscription {
  /**
   * True if Redis has accepted the subscription and the connection is usable. After a reconnect,
   * this becomes true a moment too early, because the subscription is not renewed yet.
   */
  isListening(): boolean;
  /**
   * Resolves when the channels are subscribed, or after the `end` event of the connection. Never
   * rejects.
   */
  readonly done: Promise<void>;
}

/**
 * Subscribes a connection of role `subscriber` to channels. If Redis refuses, calls `onRefused` and
 * tries again every second until the connection is closed.
 */
export function subscribeTo(
  redis: Redis,
  channels: readonly string[],
  onRefused: (error: unknown) => void,
): Subscription {
  let isSubscribed = false;
  const isClosed = (): boolean => redis.status === 'end';
  async function subscribe(): Promise<void> {
    while (!isClosed()) {
      try {
        await redis.subscribe(...channels);
        isSubscribed = true;
        return;
      } catch (error) {
        if (isClosed()) return;
        onRefused(error);
        await sleep(retryMs, undefined, { ref: false });
      }
    }
  }
  return { isListening: () => isSubscribed && redisIsReady(redis), done: subscribe() };
}
