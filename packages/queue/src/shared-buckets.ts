import { decisionOf, type RateDecision, type RatePolicy } from '@svc/domain';
import type { Redis } from 'ioredis';
import { createCallBatcher } from './call-batcher.ts';
import { takeTokensScript } from './rate-limit-script.ts';
import { createTokensAhead, type KnownBucket, type TokensAhead } from './tokens-ahead.ts';

export interface SharedBuckets {
  /**
   * Takes `cost` tokens from the bucket `name`. A call that waits for Redis throws if Redis fails or does
   * not answer in time, or if too many calls wait already.
   */
  take(name: string, policy: RatePolicy, cost: number): Promise<RateDecision>;
}

const takingsMax = 64;

interface Taking {
  readonly name: string;
  readonly policy: RatePolicy;
  readonly cost: number;
  readonly sinceMs: number;
  /** The bucket, if `TokensAhead` gave the token. Undefined if the caller waits for Redis. */
  readonly given: KnownBucket | undefined;
}

/**
 * Buckets that all gateways share in Redis. If `TokensAhead` gives the token, `take` returns at
 * once. Otherwise `take` waits for Redis.
 */
export function createSharedBuckets({
  redis,
  keyBegin,
  gateway,
  answerTimeoutMs,
  monotonicMs,
  lost,
}: {
  readonly redis: Redis;
  readonly keyBegin: string;
  /** An id that only this process has. */
  readonly gateway: string;
  readonly answerTimeoutMs: number;
  readonly monotonicMs: () => number;
  /** Called with the error if `TokensAhead` gave a token, but Redis did not confirm it. */
  readonly lost: (error: unknown) => void;
}): SharedBuckets {
  const ahead = createTokensAhead();
  const inOneCall = createCallBatcher<Taking, RateDecision>({
    sizeMax: takingsMax,
    async run(takings) {
      const sentMs = monotonicMs();
      const waitedMs = sentMs - (takings[0]?.sinceMs ?? 0);
      const asked = ask(redis, keyBegin, gateway, takings);
      const answers = await withinTime(asked, Math.max(answerTimeoutMs - waitedMs, 1));
      const times = { sentMs, nowMs: monotonicMs() };
      return takings.map((taking, index) => learn(ahead, taking, answers[index], times));
    },
  });
  return {
    async take(name, policy, cost) {
      const sinceMs = monotonicMs();
      // Only single tokens are given in advance.
      const given = cost === 1 ? ahead.take(name, policy, sinceMs) : undefined;
      if (given === undefined) return inOneCall({ name, policy, cost, sinceMs, given });
      // In the background, Redis takes the token that was given in advance.
      inOneCall({ name, policy, cost, sinceMs, given: given.bucket }).catch((error: unknown) => {
        ahead.forget(name);
        lost(error);
      });
      return given.decision;
    },
  };
}

interface BucketAnswer {
  readonly allowed: boolean;
  readonly tokens: number;
  readonly aheadMax: number;
}

function learn(
  ahead: TokensAhead,
  { name, policy, cost, given }: Taking,
  answer: BucketAnswer | undefined,
  { sentMs, nowMs }: { readonly sentMs: number; readonly nowMs: number },
): RateDecision {
  if (answer === undefined) throw new Error('the rate limit script returned too few answers');
  if (given !== undefined) given.unconfirmed -= 1;
  const { allowed, tokens, aheadMax } = answer;
  ahead.learn(name, { tokens, aheadMax, sentMs, nowMs });
  return decisionOf(tokens, allowed, policy, cost);
}

async function ask(
  redis: Redis,
  keyBegin: string,
  gateway: string,
  batch: readonly Taking[],
): Promise<BucketAnswer[]> {
  const args = batch.flatMap(({ name, policy, cost, given }) => [
    name,
    policy.perSecond,
    policy.burst,
    given === undefined ? 0 : 1,
    cost,
  ]);
  const reply = await takeTokensScript(redis, keyBegin, [gateway, ...args]);
  if (!Array.isArray(reply) || reply.length !== 3 * batch.length) {
    throw new Error('the rate limit script returned an unexpected answer');
  }
  return batch.map((_, index) => {
    const [allowed, tokens, aheadMax] = reply.slice(3 * index);
    return { allowed: allowed === 1, tokens: Number(tokens), aheadMax: Number(aheadMax) };
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
