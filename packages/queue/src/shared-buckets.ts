import { setImmediate as nextTurn } from 'node:timers/promises';
import { decisionOf, type RateDecision, type RatePolicy } from '@svc/domain';
import type { Redis } from 'ioredis';
import { takeTokensScript } from './rate-limit-script.ts';

/** Buckets in Redis, which every gateway takes from. */
export interface SharedBuckets {
  /** Throws where Redis does not answer in time. */
  take(name: string, policy: RatePolicy): Promise<RateDecision>;
}

/** How many takings one script has. */
const takingsMax = 64;

interface Taking {
  readonly name: string;
  readonly policy: RatePolicy;
  readonly sinceMs: number;
  readonly resolve: (decision: RateDecision) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What one turn of the event loop takes shares a script, and so does what comes while one is under
 * way: a message to Redis costs more than what it asks for. Nobody waits longer than
 * `answerTimeoutMs`, for the script before it included.
 */
export function createSharedBuckets({
  redis,
  keyBegin,
  answerTimeoutMs,
  monotonicMs,
}: {
  readonly redis: Redis;
  readonly keyBegin: string;
  readonly answerTimeoutMs: number;
  readonly monotonicMs: () => number;
}): SharedBuckets {
  const waiting: Taking[] = [];
  let isUnderWay = false;

  async function settle(batch: readonly Taking[]): Promise<void> {
    const [oldest] = batch;
    const waitedMs = monotonicMs() - (oldest?.sinceMs ?? 0);
    try {
      const asked = ask(redis, keyBegin, batch);
      const decisions = await withinTime(asked, Math.max(answerTimeoutMs - waitedMs, 1));
      for (const [index, decision] of decisions.entries()) batch[index]?.resolve(decision);
    } catch (error) {
      // Those that came meanwhile need not find out for themselves.
      for (const taking of [...batch, ...waiting.splice(0)]) taking.reject(error);
    }
  }

  async function drain(): Promise<void> {
    isUnderWay = true;
    await nextTurn();
    while (waiting.length > 0) await settle(waiting.splice(0, takingsMax));
    isUnderWay = false;
  }

  return {
    take(name, policy) {
      return new Promise((resolve, reject) => {
        waiting.push({ name, policy, sinceMs: monotonicMs(), resolve, reject });
        if (!isUnderWay) void drain();
      });
    },
  };
}

async function ask(
  redis: Redis,
  keyBegin: string,
  batch: readonly Taking[],
): Promise<RateDecision[]> {
  const args = batch.flatMap(({ name, policy }) => [name, policy.perSecond, policy.burst]);
  const reply = await takeTokensScript(redis, keyBegin, args);
  if (!Array.isArray(reply) || reply.length !== 2 * batch.length) {
    throw new Error('the rate limit script answered something else');
  }
  return batch.map(({ policy }, index) => {
    const [allowed, tokens] = reply.slice(2 * index);
    return decisionOf(Number(tokens), allowed === 1, policy);
  });
}

async function withinTime<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('Redis is slow')), timeoutMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
