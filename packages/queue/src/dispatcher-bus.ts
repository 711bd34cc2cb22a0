import { setTimeout as sleep } from 'node:timers/promises';

import { DispatcherMessage } from '@svc/contracts';
import { parseBoundedJson } from '@svc/domain';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Redis } from 'ioredis';

import { closeRedis, connectRedis, keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

/** The dispatchers' channels: one each for what is meant for it, and one that all listen to. */
export interface DispatcherBus {
  /**
   * Sends to one dispatcher; to oneself without Redis, by the same handler, in a later turn.
   * False where nobody listens there any more. Throws when Redis cannot be reached.
   */
  send(dispatcherId: string, message: DispatcherMessage): Promise<boolean>;
  /** Sends to all dispatchers but oneself. Throws when Redis cannot be reached. */
  broadcast(message: DispatcherMessage): Promise<void>;
  isListening(): boolean;
  /** Waits until this dispatcher hears what it is sent; false when it does not after `timeoutMs`. */
  listening(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Messages are a few hundred characters, three levels deep. */
const messageBounds = { charactersMax: 1_048_576, depthMax: 32 };

// Ajv does not check TypeBox's schemas against the meta-schema: compiling that costs 50 ms of CPU.
const validate = new Ajv2020({ validateSchema: false, strict: true }).compile<DispatcherMessage>(
  DispatcherMessage,
);

function channelOf(prefix: string, dispatcherId: string): string {
  return `${keyPrefix(prefix)}:dispatcher.v1:${dispatcherId}`;
}

function channelOfAll(prefix: string): string {
  return `${keyPrefix(prefix)}:dispatchers.v1`;
}

interface Envelope {
  readonly from: string;
  readonly message: unknown;
}

function readEnvelope(text: string): Envelope | undefined {
  const parsed = parseBoundedJson(text, messageBounds);
  if (parsed.kind === 'refused') return undefined;
  const { value } = parsed;
  if (typeof value !== 'object' || value === null) return undefined;
  const { from, message } = value as Partial<Envelope>;
  return typeof from === 'string' ? { from, message } : undefined;
}

/**
 * Opens the bus of one dispatcher. `redis` (of role `producer`) stays the caller's to close; the
 * subscription has a connection of its own and is renewed after a reconnect. A message whose
 * handling throws is logged and dropped.
 */
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
  readonly onMessage: (message: DispatcherMessage) => void;
  readonly logger: QueueLogger;
}): DispatcherBus {
  const subscriber = connectRedis(redisUrl, 'subscriber', logger);
  let closed = false;

  subscriber.on('message', (channel: string, text: string) => {
    const envelope = readEnvelope(text);
    if (closed || envelope?.from === dispatcherId) return;
    if (envelope !== undefined && validate(envelope.message)) handle(envelope.message);
    else logger.warn({ channel }, 'a message between dispatchers is not as agreed');
  });

  /** A message that cannot be handled is dropped: every message may be lost. */
  function handle(message: DispatcherMessage): void {
    try {
      onMessage(message);
    } catch (error) {
      logger.error({ err: error, kind: message.kind }, 'could not handle a message');
    }
  }

  let isSubscribed = false;
  const subscription = subscribe();

  async function subscribe(): Promise<void> {
    try {
      await subscriber.subscribe(channelOf(prefix, dispatcherId), channelOfAll(prefix));
      isSubscribed = true;
    } catch (error) {
      logger.warn({ err: error }, 'could not listen to dispatchers');
    }
  }

  async function publish(channel: string, message: DispatcherMessage): Promise<number> {
    return await redis.publish(channel, JSON.stringify({ from: dispatcherId, message }));
  }

  return {
    async send(to, message) {
      if (to !== dispatcherId) return (await publish(channelOf(prefix, to), message)) > 0;
      queueMicrotask(() => {
        if (!closed) handle(message);
      });
      return true;
    },
    async broadcast(message) {
      await publish(channelOfAll(prefix), message);
    },
    isListening: () => isSubscribed && redisIsReady(subscriber),
    async listening(timeoutMs) {
      const controller = new AbortController();
      const timeout = sleep(timeoutMs, undefined, { signal: controller.signal }).catch(() => {});
      await Promise.race([subscription, timeout]);
      controller.abort();
      return isSubscribed;
    },
    async close() {
      closed = true;
      await closeRedis(subscriber);
    },
  };
}

/**
 * Tells all dispatchers that a submission has ended otherwise than by its node, after the commit
 * that ended it: offering stops, and the node is sent `cancel`. A lost message costs only time:
 * the node's next `start` or `usage` is answered `cancel`. Throws when Redis cannot be reached.
 */
export async function publishCancelled(
  redis: Redis,
  prefix: string,
  submissionId: string,
): Promise<void> {
  await publishToAll(redis, prefix, { kind: 'stop_submission', submissionId });
}

/**
 * Tells all dispatchers that an operator has changed a node, after the commit: whichever holds its
 * link follows at once. A lost message costs only time: each looks by itself. Throws when Redis
 * cannot be reached.
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
