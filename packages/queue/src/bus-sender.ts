import { busBatchMax, type DispatcherMessage } from '@svc/contracts';
import type { Redis } from 'ioredis';
import { createCallBatcher, type CallBatcher } from './call-batcher.ts';
import { keyPrefix } from './redis.ts';

/**
 * The most characters of the messages in one batch. A longer message is alone in its batch. Most
 * messages have about 600 characters.
 */
const batchCharactersMax = 262_144;
/**
 * The most dispatchers that the sender remembers. Beyond this number, it forgets the dispatcher
 * that it added first.
 */
const targetsMax = 256;

/**
 * The channel for single messages to one dispatcher. Dispatchers of every version subscribe to
 * their own channel of this kind.
 */
function channelOf(prefix: string, dispatcherId: string): string {
  return `${keyPrefix(prefix)}:dispatcher.v1:${dispatcherId}`;
}

/**
 * The channel for batches to one dispatcher. The dispatcher subscribes to it only if its version
 * can read batches.
 */
function batchChannelOf(prefix: string, dispatcherId: string): string {
  return `${keyPrefix(prefix)}:dispatcher.v2:${dispatcherId}`;
}

export function channelOfAll(prefix: string): string {
  return `${keyPrefix(prefix)}:dispatchers.v1`;
}

/**
 * The channels of a dispatcher. It subscribes to them with one command, so it is subscribed to all
 * of them or to none.
 */
export function channelsOf(prefix: string, dispatcherId: string): readonly string[] {
  return [
    channelOf(prefix, dispatcherId),
    batchChannelOf(prefix, dispatcherId),
    channelOfAll(prefix),
  ];
}

interface Target {
  readonly send: CallBatcher<DispatcherMessage, boolean>;
  /**
   * True if the dispatcher cannot read batches: a batch did not reach it, but a single message did.
   * An upgraded dispatcher has a new id, and so a new `Target`.
   */
  isWithoutBatches: boolean;
}

function divide(texts: readonly string[]): string[][] {
  const batches: string[][] = [];
  let charactersLeft = 0;
  for (const text of texts) {
    charactersLeft -= text.length;
    const last = batches.at(-1);
    if (last !== undefined && charactersLeft >= 0 && last.length < busBatchMax) last.push(text);
    else {
      batches.push([text]);
      charactersLeft = batchCharactersMax - text.length;
    }
  }
  return batches;
}

export function createBusSender({
  redis,
  prefix,
  dispatcherId,
}: {
  readonly redis: Redis;
  readonly prefix: string;
  readonly dispatcherId: string;
}) {
  const from = JSON.stringify(dispatcherId);
  const targets = new Map<string, Target>();

  async function publishSingles(to: string, texts: readonly string[]): Promise<boolean[]> {
    const channel = channelOf(prefix, to);
    const counts = await Promise.all(
      texts.map((text) => redis.publish(channel, `{"from":${from},"message":${text}}`)),
    );
    return counts.map((count) => count > 0);
  }

  async function publish(
    to: string,
    target: Target,
    messages: readonly DispatcherMessage[],
  ): Promise<boolean[]> {
    const texts = messages.map((message) => JSON.stringify(message));
    if (target.isWithoutBatches) return await publishSingles(to, texts);
    const batches = await Promise.all(
      divide(texts).map(async (batch) => {
        const text = `{"from":${from},"messages":[${batch.join(',')}]}`;
        const count = await redis.publish(batchChannelOf(prefix, to), text);
        if (count > 0) return batch.map(() => true);
        const areReceived = await publishSingles(to, batch);
        target.isWithoutBatches ||= areReceived.includes(true);
        return areReceived;
      }),
    );
    return batches.flat();
  }

  function targetOf(to: string): Target {
    const found = targets.get(to);
    if (found !== undefined) return found;
    const target: Target = {
      isWithoutBatches: false,
      send: createCallBatcher({
        sizeMax: busBatchMax,
        run: (messages) => publish(to, target, messages),
      }),
    };
    for (const oldest of targets.keys()) {
      if (targets.size < targetsMax) break;
      targets.delete(oldest);
    }
    targets.set(to, target);
    return target;
  }

  return {
    async send(to: string, message: DispatcherMessage): Promise<boolean> {
      return await targetOf(to).send(message);
    },
    /**
     * Sends the message to all dispatchers. The message is not in a batch, because dispatchers of
     * older versions cannot read batches.
     */
    async broadcast(message: DispatcherMessage): Promise<void> {
      await redis.publish(
        channelOfAll(prefix),
        `{"from":${from},"message":${JSON.stringify(message)}}`,
      );
    },
  };
}
