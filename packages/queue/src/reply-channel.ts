import { parseBoundedJson } from '@svc/domain';
import type { Redis } from 'ioredis';
import { createGatherer } from './gather.ts';
import { closeRedis, connectRedis, keyPrefix, type QueueLogger } from './redis.ts';
import { subscribeTo } from './subscription.ts';

/** `dispatched`: this state is committed. `look`: the gateway must read the state from Postgres. */
export type ReplyNews = 'dispatched' | 'look';

export interface Reply {
  readonly submissionId: string;
  readonly news: ReplyNews;
}

/**
 * Receives the replies to one gateway. A reply may be lost: `wait` then resolves with `timeout`,
 * and the gateway reads the state from Postgres.
 */
export interface ReplyListener {
  /** The value for `replyTo` of a dispatch job. */
  readonly channel: string;
  /**
   * Returns the reply about a submission, or `timeout` (after `timeoutMs`, or on `close`). Call it
   * before you enqueue the dispatch job, else the reply may be lost.
   */
  wait(submissionId: string, timeoutMs: number): Promise<ReplyNews | 'timeout'>;
  isListening(): boolean;
  close(): Promise<void>;
}

const replyIdsMax = 64;
const messageBounds = { charactersMax: 65_536, depthMax: 2 };

/**
 * A message is one array: ids, then a number n. The first n ids are `dispatched`, and the others
 * are `look`. If an older dispatcher sends no number, all ids are `look`.
 */
function messageOf(replies: readonly Reply[]): string {
  const idsOf = (wanted: ReplyNews): string[] =>
    replies.filter(({ news }) => news === wanted).map(({ submissionId }) => submissionId);
  const dispatched = idsOf('dispatched');
  return JSON.stringify([...dispatched, ...idsOf('look'), dispatched.length]);
}

function parseMessage(message: string): Reply[] {
  const parsed = parseBoundedJson(message, messageBounds);
  if (parsed.kind === 'refused' || !Array.isArray(parsed.value)) return [];
  const last: unknown = parsed.value.at(-1);
  const dispatchedCount = typeof last === 'number' ? last : 0;
  return parsed.value.flatMap((id: unknown, index) =>
    typeof id === 'string'
      ? [{ submissionId: id, news: index < dispatchedCount ? 'dispatched' : 'look' }]
      : [],
  );
}

/**
 * Creates the listener of one gateway. `name` must be unique to this listener, such as a new id.
 */
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
  const redis = connectRedis(redisUrl, 'subscriber', logger, { clusterKey: keyPrefix(prefix) });
  const waiting = new Map<string, Set<(outcome: ReplyNews | 'timeout') => void>>();

  redis.on('message', (_channel: string, message: string) => {
    for (const { submissionId, news } of parseMessage(message)) {
      for (const settle of waiting.get(submissionId) ?? []) settle(news);
    }
  });
  const subscription = subscribeTo(redis, [channel], (error) => {
    logger?.warn({ err: error, channel }, 'could not subscribe to the replies of dispatchers');
  });

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
        const settle = (outcome: ReplyNews | 'timeout'): void => {
          clearTimeout(timer);
          waiters.delete(settle);
          if (waiters.size === 0) waiting.delete(submissionId);
          resolve(outcome);
        };
        const timer = setTimeout(settle, timeoutMs, 'timeout');
        waiters.add(settle);
      });
    },
    isListening: () => subscription.isListening(),
    async close() {
      settleAll();
      await closeRedis(redis);
    },
  };
}

/**
 * Publishes replies to the gateway of `channel`. Also succeeds if no gateway is subscribed. Throws
 * if Redis is unreachable.
 */
export async function publishReplies(
  redis: Redis,
  channel: string,
  replies: readonly Reply[],
): Promise<void> {
  for (let start = 0; start < replies.length; start += replyIdsMax) {
    await redis.publish(channel, messageOf(replies.slice(start, start + replyIdsMax)));
  }
}

/**
 * Returns a function that publishes one reply. Replies to the same channel are combined into one
 * message (`createGatherer`). A message has at most `replyIdsMax` replies.
 */
export function createReplier(redis: Redis): (channel: string, reply: Reply) => Promise<void> {
  return createGatherer((channel, replies) => publishReplies(redis, channel, replies));
}
