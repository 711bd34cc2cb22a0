import { setImmediate as nextTurn } from 'node:timers/promises';
import { decisionOf, type RateDecision, type RatePolicy } from '@svc/domain';
import type { Redis } from 'ioredis';
import { takeTokensScript } from './rate-limit-script.ts';

/** Rate limit buckets in Redis, shared by all gateways. */
export interface SharedBuckets {
  /** Throws if Redis does not answer in time. */
  take(name: string, policy: RatePolicy): Promise<RateDecision>;
}

/** The most tokens that one call of the script takes. */
const takingsMax = 64;

interface Taking {
  readonly name: string;
  readonly policy: RatePolicy;
  readonly sinceMs: number;
  readonly resolve: (decision: RateDecision) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Calls of one turn of the event loop share a script. So do calls that arrive while a script is in
 * progress. A message to Redis costs more than its content. No call waits longer than
 * `answerTimeoutMs`, including the time of the script before it.
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
  let isDraining = false;

  async function settle(batch: readonly Taking[]): Promise<void> {
    const [oldest] = batch;
    const waitedMs = monotonicMs() - (oldest?.sinceMs ?? 0);
    try {
      const asked = ask(redis, keyBegin, batch);
      const decisions = await withinTime(asked, Math.max(answerTimeoutMs - waitedMs, 1));
      for (const [index, decision] of decisions.entries()) batch[index]?.resolve(decision);
    } catch (error) {
      // Calls that arrived in the meantime fail at once too, without waiting for Redis.
      for (const taking of [...batch, ...waiting.splice(0)]) taking.reject(error);
    }
  }

  async function drain(): Promise<void> {
    isDraining = true;
    await nextTurn();
    while (waiting.length > 0) await settle(waiting.splice(0, takingsMax));
    isDraining = false;
  }

  return {
    take(name, policy) {
      return new Promise((resolve, reject) => {
        waiting.push({ name, policy, sinceMs: monotonicMs(), resolve, reject });
        if (!isDraining) void drain();
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
    throw new Error('the rate limit script returned an unexpected answer');
  }
  return batch.map(({ policy }, index) => {
    const [allowed, tokens] = reply.slice(2 * index);
    return decisionOf(Number(tokens), allowed === 1, policy);
  });
}

async function withinTime<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('Redis did not answer in time')), timeoutMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
