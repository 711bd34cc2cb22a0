import { setTimeout as sleep } from 'node:timers/promises';
import { DispatcherMessage } from '@svc/contracts';
import { parseBoundedJson } from '@svc/domain';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Redis } from 'ioredis';
import { closeRedis, connectRedis, keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

/** The channels between dispatchers: one for each dispatcher, and one that all subscribe to. */
export interface DispatcherBus {
  /**
   * Sends to one dispatcher. A message to itself goes to the same handler later, without Redis.
   * Returns false if the dispatcher is not subscribed. Throws if Redis is unreachable.
   */
  send(dispatcherId: string, message: DispatcherMessage): Promise<boolean>;
  /** Sends to all other dispatchers. Throws if Redis is unreachable. */
  broadcast(message: DispatcherMessage): Promise<void>;
  isListening(): boolean;
  /** Waits until this dispatcher receives messages; false if it does not within `timeoutMs`. */
  listening(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Messages are a few hundred characters, three levels deep. */
const messageBounds = { charactersMax: 1_048_576, depthMax: 32 };

// Ajv does not check TypeBox's schemas against the meta-schema: loading it costs 70 ms of CPU.
const ajv = new Ajv2020({ meta: false, validateSchema: false, strict: true });
/** Ajv keeps what it compiled, so the schema is compiled once, at the first message. */
const validateMessage = (): ValidateFunction<DispatcherMessage> =>
  ajv.compile<DispatcherMessage>(DispatcherMessage);

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
 * Opens the bus of one dispatcher. The caller closes `redis` (of role `producer`). The subscription
 * has its own connection, and is renewed after a reconnect. A message whose handler throws is
 * logged and dropped.
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
    if (envelope !== undefined && validateMessage()(envelope.message)) handle(envelope.message);
    else logger.warn({ channel }, 'dropped a malformed message between dispatchers');
  });

  /** Drops a message whose handler throws. This is safe because every message may be lost. */
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
      logger.warn({ err: error }, 'could not subscribe to messages of dispatchers');
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
 * Notifies all dispatchers that a submission has ended elsewhere than at its node. Call it after
 * the commit that ended it. Offering stops, and the node gets `cancel`. A lost message only delays
 * this: the node's next `start` or `usage` is answered with `cancel`. Throws if Redis is
 * unreachable.
 */
export async function publishCancelled(
  redis: Redis,
  prefix: string,
  submissionId: string,
): Promise<void> {
  await publishToAll(redis, prefix, { kind: 'stop_submission', submissionId });
}

/**
 * Notifies all dispatchers that an operator has changed a node. Call it after the commit. The
 * dispatcher of the node's link applies the change at once. A lost message only delays this,
 * because dispatchers also poll Postgres. Throws if Redis is unreachable.
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
