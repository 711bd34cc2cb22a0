import { parseBoundedJson } from '@svc/domain';
import type { Redis } from 'ioredis';

import { createGatherer } from './gather.ts';
import { closeRedis, connectRedis, keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

/**
 * What a reply says of one submission. `dispatched`: its commit of `dispatched` has returned, which
 * nothing takes back, so that its gateway need not ask Postgres for what Postgres has just said.
 * `look`: something has become of it, and Postgres knows what.
 */
export type ReplyNews = 'dispatched' | 'look';

export interface Reply {
  readonly submissionId: string;
  readonly news: ReplyNews;
}

/**
 * The reply to a waiting gateway (docs/ARCHITECTURE.md, Queues): published on a channel of that gateway's
 * own, several submissions to a message. A lost reply costs the gateway no more than its waiting
 * time: it reads the outcome in Postgres then.
 */
export interface ReplyListener {
  /** What to put into `replyTo` of a dispatch job. */
  readonly channel: string;
  /**
   * Waits for the reply about one submission. Call it before the job is enqueued: a reply that
   * nobody waits for is dropped.
   */
  wait(submissionId: string, timeoutMs: number): Promise<ReplyNews | 'timeout'>;
  /** Whether replies can arrive at present. */
  isListening(): boolean;
  close(): Promise<void>;
}

const replyIdsMax = 64;
const messageBounds = { charactersMax: 65_536, depthMax: 2 };

/**
 * A message is a list of ids, and behind them how many of the first ones are `dispatched`. Without
 * that number all are to be looked at: so a gateway and a dispatcher of neighbouring versions
 * understand each other.
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
  const waiting = new Map<string, Set<(outcome: ReplyNews | 'timeout') => void>>();
  let subscribed = false;

  redis.on('message', (_channel: string, message: string) => {
    for (const { submissionId, news } of parseMessage(message)) {
      for (const settle of waiting.get(submissionId) ?? []) settle(news);
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
    isListening: () => subscribed && redisIsReady(redis),
    async close() {
      settleAll();
      await closeRedis(redis);
    },
  };
}

/**
 * Tells the gateway behind `channel` of these submissions. Nobody may be listening any more, which
 * is no error. Throws when Redis cannot be reached.
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

/** The same for one submission at a time: replies to a channel in one turn share a message. */
export function createReplier(redis: Redis): (channel: string, reply: Reply) => Promise<void> {
  return createGatherer((channel, replies) => publishReplies(redis, channel, replies));
}
