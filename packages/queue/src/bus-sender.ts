import { busBatchMax, type DispatcherMessage } from '@svc/contracts';
import type { Redis } from 'ioredis';
import { createCallBatcher, type CallBatcher } from './call-batcher.ts';
import { keyPrefix } from './redis.ts';

/** A batch ends before the message that would make it longer. Usual messages have 600 characters. */
const batchCharactersMax = 262_144;
/** The most dispatchers that the sender remembers. The oldest is forgotten first. */
const targetsMax = 256;

/** The channel for single messages. Dispatchers of every version subscribe to it. */
function channelOf(prefix: string, dispatcherId: string): string {
  return `${keyPrefix(prefix)}:dispatcher.v1:${dispatcherId}`;
}

/** The channel for batches. Only dispatchers that understand batches subscribe to it. */
function batchChannelOf(prefix: string, dispatcherId: string): string {
  return `${keyPrefix(prefix)}:dispatcher.v2:${dispatcherId}`;
}

export function channelOfAll(prefix: string): string {
  return `${keyPrefix(prefix)}:dispatchers.v1`;
}

/**
 * The channels that a dispatcher subscribes to, with one command. So a dispatcher that has one of
 * them has them all.
 */
export function channelsOf(prefix: string, dispatcherId: string): readonly string[] {
  return [
    channelOf(prefix, dispatcherId),
    batchChannelOf(prefix, dispatcherId),
    channelOfAll(prefix),
  ];
}

/** A dispatcher that this one has sent to. */
interface Target {
  readonly send: CallBatcher<DispatcherMessage, boolean>;
  /** It is subscribed to single messages only. Its id, and so its version, never changes. */
  isWithoutBatches: boolean;
}

/** Divides JSON texts into batches, in their order. A long text is alone in its batch. */
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

/** Sends messages to other dispatchers, and combines those to one dispatcher. */
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

  /** Returns for each message whether the dispatcher is subscribed. */
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
    /** Older dispatchers subscribe to this channel too, so its messages are single. */
    async broadcast(message: DispatcherMessage): Promise<void> {
      await redis.publish(
        channelOfAll(prefix),
        `{"from":${from},"message":${JSON.stringify(message)}}`,
      );
    },
  };
}
