import { setTimeout as sleep } from 'node:timers/promises';
import type { DispatcherMessage } from '@svc/contracts';
import type { Redis } from 'ioredis';
import { readBusMessages } from './bus-reader.ts';
import { channelOfAll, channelsOf, createBusSender } from './bus-sender.ts';
import { closeRedis, connectRedis, keyPrefix, type QueueLogger } from './redis.ts';
import { subscribeTo } from './subscription.ts';

/** Connects one dispatcher to the others by Redis channels (decision 31). */
export interface DispatcherBus {
  /**
   * Sends to the dispatcher `to`. If `to` is another dispatcher, returns false if it is not
   * subscribed, and throws if Redis is unreachable or too many messages wait.
   */
  send(to: string, message: DispatcherMessage): Promise<boolean>;
  /** Sends to all other dispatchers. Throws if Redis is unreachable. */
  broadcast(message: DispatcherMessage): Promise<void>;
  isListening(): boolean;
  listening(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens the bus of one dispatcher. The caller closes `redis` (of role `producer`). */
export function createDispatcherBus({
  redis,
  redisUrl,
  prefix,
  dispatcherId,
  onMessage,
  logger,
}: {
  readonly redis: Redis;
  readonly redisUrl: string;
  readonly prefix: string;
  readonly dispatcherId: string;
  /** If this callback throws, the message is dropped. Dispatchers tolerate the loss of messages. */
  readonly onMessage: (message: DispatcherMessage) => void;
  readonly logger: QueueLogger;
}): DispatcherBus {
  const subscriber = connectRedis(redisUrl, 'subscriber', logger, {
    clusterKey: keyPrefix(prefix),
  });
  let closed = false;

  const sender = createBusSender({ redis, prefix, dispatcherId });

  subscriber.on('message', (channel: string, text: string) => {
    if (closed) return;
    const { from, messages, malformed } = readBusMessages(text);
    if (malformed > 0) {
      logger.warn({ channel, malformed }, 'dropped malformed bus messages');
    }
    if (from !== dispatcherId) for (const message of messages) handle(message);
  });

  function handle(message: DispatcherMessage): void {
    try {
      onMessage(message);
    } catch (error) {
      logger.error({ err: error, kind: message.kind }, 'could not handle a bus message');
    }
  }

  const channels = channelsOf(prefix, dispatcherId);
  const subscription = subscribeTo(subscriber, channels, (error) => {
    logger.warn({ err: error }, 'could not subscribe to bus messages');
  });

  return {
    async send(to, message) {
      if (to !== dispatcherId) return await sender.send(to, message);
      // A message from this dispatcher to itself does not go through Redis.
      queueMicrotask(() => {
        if (!closed) handle(message);
      });
      return true;
    },
    async broadcast(message) {
      await sender.broadcast(message);
    },
    isListening: () => subscription.isListening(),
    async listening(timeoutMs) {
      const controller = new AbortController();
      const timeout = sleep(timeoutMs, undefined, { signal: controller.signal }).catch(() => {});
      await Promise.race([subscription.done, timeout]);
      controller.abort();
      return subscription.isListening();
    },
    async close() {
      closed = true;
      await closeRedis(subscriber);
    },
  };
}

/**
 * Call it after the commit that cancels or fails a submission, so its node gets `cancel`. Throws if
 * Redis is unreachable, which only delays `cancel`, like a lost message.
 */
export async function publishCancelled(
  redis: Redis,
  prefix: string,
  submissionId: string,
): Promise<void> {
  await publishToAll(redis, prefix, { kind: 'stop_submission', submissionId });
}

/**
 * Call it after the commit that changes a node, to notify all dispatchers. Throws if Redis is
 * unreachable, which only delays the effect of the change, like a lost message.
 */
export async function publishNodeChanged(
  redis: Redis,
  prefix: string,
  nodeId: string,
): Promise<void> {
  await publishToAll(redis, prefix, { kind: 'node_changed', nodeId });
}

async function publishToAll(
  redis: Redis,
  prefix: string,
  message: DispatcherMessage,
): Promise<void> {
  await redis.publish(channelOfAll(prefix), JSON.stringify({ from: '', message }));
}
