import type { Redis } from 'ioredis';

import { createGatherer } from './gather.ts';
import { closeRedis, connectRedis, keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

/**
 * The reply to a waiting gateway (DESIGN.md section 6): published on a channel of that gateway's
 * own, several submissions to a message. A reply says only "look now": the gateway reads the
 * outcome in Postgres, and a lost reply costs it no more than its waiting time.
 */
export interface ReplyListener {
  /** What to put into `replyTo` of a dispatch job. */
  readonly channel: string;
  /**
   * Waits for the reply about one submission. Call it before the job is enqueued: a reply that
   * nobody waits for is dropped.
   */
  wait(submissionId: string, timeoutMs: number): Promise<'replied' | 'timeout'>;
  /** Whether replies can arrive at present. */
  isListening(): boolean;
  close(): Promise<void>;
}

const replyIdsMax = 64;

function parseReply(message: string): string[] {
  try {
    const parsed: unknown = JSON.parse(message);
    if (!Array.isArray(parsed)) return [];
    return parsed.filter((id): id is string => typeof id === 'string');
  } catch {
    return [];
  }
}

/** `name` must be this process's own, such as a fresh id. */
export function createReplyListener({
  redisUrl,
  prefix,
  name,
  logger,
}: {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly name: string;
  readonly logger?: QueueLogger;
}): ReplyListener {
  const channel = `${keyPrefix(prefix)}:replies:${name}`;
  const redis = connectRedis(redisUrl, 'subscriber', logger);
  const waiting = new Map<string, Set<(outcome: 'replied' | 'timeout') => void>>();
  let subscribed = false;

  redis.on('message', (_channel: string, message: string) => {
    for (const id of parseReply(message)) {
      for (const settle of waiting.get(id) ?? []) settle('replied');
    }
  });
  async function subscribe(): Promise<void> {
    try {
      await redis.subscribe(channel);
      subscribed = true;
    } catch (error) {
      logger?.warn({ err: error, channel }, 'could not listen for replies');
    }
  }
  void subscribe();

  function settleAll(): void {
    for (const waiters of waiting.values()) {
      for (const settle of waiters) settle('timeout');
    }
  }

  return {
    channel,
    wait(submissionId, timeoutMs) {
      return new Promise((resolve) => {
        const waiters = waiting.get(submissionId) ?? new Set();
        waiting.set(submissionId, waiters);
        const settle = (outcome: 'replied' | 'timeout'): void => {
          clearTimeout(timer);
          waiters.delete(settle);
          if (waiters.size === 0) waiting.delete(submissionId);
          resolve(outcome);
        };
        const timer = setTimeout(settle, timeoutMs, 'timeout');
        waiters.add(settle);
      });
    },
    isListening: () => subscribed && redisIsReady(redis),
    async close() {
      settleAll();
      await closeRedis(redis);
    },
  };
}

/**
 * Tells the gateway behind `channel` to look at these submissions. Nobody may be listening any
 * more, which is no error. Throws when Redis cannot be reached.
 */
export async function publishReplies(
  redis: Redis,
  channel: string,
  submissionIds: readonly string[],
): Promise<void> {
  for (let start = 0; start < submissionIds.length; start += replyIdsMax) {
    const batch = submissionIds.slice(start, start + replyIdsMax);
    await redis.publish(channel, JSON.stringify(batch));
  }
}

/** The same for one submission at a time: replies to a channel in one turn share a message. */
export function createReplier(
  redis: Redis,
): (channel: string, submissionId: string) => Promise<void> {
  return createGatherer((channel, submissionIds) => publishReplies(redis, channel, submissionIds));
}
