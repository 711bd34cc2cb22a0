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
  /** Proves `dispatched`. Without a valid one, the listener takes the news as `look`. */
  readonly proof?: string | undefined;
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
 * A message is one array: ids, an array of n proofs, then the number n. The first n ids are
 * `dispatched`, and the others are `look`. Older dispatchers send no proofs, or not even n.
 */
function messageOf(replies: readonly Reply[]): string {
  const repliesOf = (wanted: ReplyNews) => replies.filter(({ news }) => news === wanted);
  const dispatched = repliesOf('dispatched');
  const ids = [...dispatched, ...repliesOf('look')].map(({ submissionId }) => submissionId);
  const proofs = dispatched.map(({ proof }) => proof ?? '');
  return JSON.stringify([...ids, proofs, dispatched.length]);
}

type ProofCheck = (submissionId: string, proof: string) => boolean;

function parseMessage(message: string): Reply[] {
  const parsed = parseBoundedJson(message, messageBounds);
  if (parsed.kind === 'refused' || !Array.isArray(parsed.value)) return [];
  const last: unknown = parsed.value.at(-1);
  const dispatchedCount = typeof last === 'number' ? last : 0;
  const beforeLast: unknown = parsed.value.at(-2);
  const proofs: unknown[] = Array.isArray(beforeLast) ? beforeLast : [];
  return parsed.value.flatMap((id: unknown, index): Reply[] => {
    if (typeof id !== 'string') return [];
    const proof = proofs[index];
    const isDispatched = index < dispatchedCount && typeof proof === 'string';
    return [isDispatched ? { submissionId: id, news: 'dispatched', proof } : look(id)];
  });
}

const look = (submissionId: string): Reply => ({ submissionId, news: 'look' });

/** Everybody who can write to Redis can publish replies, so only a proof makes `dispatched` true. */
function believed({ submissionId, news, proof = '' }: Reply, isProof: ProofCheck): ReplyNews {
  return news === 'dispatched' && isProof(submissionId, proof) ? 'dispatched' : 'look';
}

/**
 * Creates the listener of one gateway. `name` must be unique to this listener, such as a new id.
 */
export function createReplyListener({
  redisUrl,
  prefix,
  name,
  isProof,
  logger,
}: {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly name: string;
  /** True if `proof` proves that the submission was `dispatched` (`isDispatchProof`). */
  readonly isProof: ProofCheck;
  readonly logger?: QueueLogger;
}): ReplyListener {
  const channel = `${keyPrefix(prefix)}:replies:${name}`;
  const redis = connectRedis(redisUrl, 'subscriber', logger, { clusterKey: keyPrefix(prefix) });
  const waiting = new Map<string, Set<(outcome: ReplyNews | 'timeout') => void>>();

  redis.on('message', (_channel: string, message: string) => {
    for (const reply of parseMessage(message)) {
      const waiters = waiting.get(reply.submissionId);
      if (waiters === undefined) continue;
      const news = believed(reply, isProof);
      for (const settle of waiters) settle(news);
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
