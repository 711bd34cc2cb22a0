import { decisionOf, type RateDecision, type RatePolicy } from '@svc/domain';
import type { Redis } from 'ioredis';
import { createCallBatcher } from './call-batcher.ts';
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
}

/** No call waits longer than `answerTimeoutMs`, including the time of the script before it. */
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
  const inOneCall = createCallBatcher<Taking, RateDecision>({
    sizeMax: takingsMax,
    run(takings) {
      const waitedMs = monotonicMs() - (takings[0]?.sinceMs ?? 0);
      const asked = ask(redis, keyBegin, takings);
      return withinTime(asked, Math.max(answerTimeoutMs - waitedMs, 1));
    },
  });
  return { take: (name, policy) => inOneCall({ name, policy, sinceMs: monotonicMs() }) };
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
