import { type RatePolicy, takeToken, type TokenBucket } from '@svc/domain';
import type { Clock } from './clock.ts';

/** The claimed sender of a request, before authentication. */
export interface Sender {
  readonly address: string;
  /**
   * The id that the request claims, in a header such as `x-svc-tenant`, cut to `identityLengthMax`
   * characters. Empty if the request claims none.
   */
  readonly identity: string;
}

/**
 * Makes an address wait after too many failed authentications (decision 10). An identity that
 * recently signed correctly from this address has its own count.
 */
export interface FailureLimit {
  /** Milliseconds that this sender must wait before it may send again. 0 if it is not limited. */
  waitMs(sender: Sender): number;
  /**
   * Begins an authentication, and counts it as failed until it ends otherwise. So the requests that
   * are authenticated at the same time are limited too.
   */
  attempt(sender: Sender): Attempt;
}

export type Attempt =
  | { readonly kind: 'limited'; readonly waitMs: number }
  | {
      readonly kind: 'counted';
      /** Takes the count back. The sender has its own count from now on. */
      succeeded(): void;
      /** Takes the count back, because nothing was decided: a dependency failed. */
      undecided(): void;
    };

/**
 * The default limit of failed authentications. A single client that keeps to the default rate limit
 * does not reach this limit. The work for this many failures is negligible.
 */
const defaultPolicy: RatePolicy = { perSecond: 200, burst: 2_000 };
const bucketsMax = 10_000;
const trustedMax = 10_000;

export function createFailureLimit({
  clock,
  policy = defaultPolicy,
}: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly policy?: RatePolicy;
}): FailureLimit {
  const buckets = new Map<string, TokenBucket>();
  const trusted = new Set<string>();

  function nameOf({ address, identity }: Sender): string {
    const own = `${address} ${identity}`;
    // A trusted sender has its own count, so that failures of other identities do not block it.
    return trusted.has(own) ? own : address;
  }

  function giveBack(name: string): void {
    const known = buckets.get(name);
    if (known === undefined) return;
    const { bucket } = takeToken(known, policy, clock.monotonicMs(), -1);
    // A missing bucket is full. So only senders with failures take space.
    if (bucket.tokens >= policy.burst) buckets.delete(name);
    else buckets.set(name, bucket);
  }

  function trust({ address, identity }: Sender): void {
    const own = `${address} ${identity}`;
    trusted.delete(own);
    trusted.add(own);
    dropOldest(trusted, trustedMax);
  }

  return {
    waitMs(sender) {
      const bucket = buckets.get(nameOf(sender));
      if (bucket === undefined) return 0;
      return takeToken(bucket, policy, clock.monotonicMs()).decision.retryInMs;
    },
    attempt(sender) {
      const name = nameOf(sender);
      const { bucket, decision } = takeToken(buckets.get(name), policy, clock.monotonicMs());
      // Deleting the entry before it is set again keeps the map in the order of the last attempts.
      buckets.delete(name);
      buckets.set(name, bucket);
      dropOldest(buckets, bucketsMax);
      if (!decision.allowed) return { kind: 'limited', waitMs: decision.retryInMs };
      return {
        kind: 'counted',
        succeeded() {
          giveBack(name);
          trust(sender);
        },
        undecided: () => giveBack(name),
      };
    },
  };
}

function dropOldest(entries: Map<string, unknown> | Set<string>, entriesMax: number): void {
  if (entries.size <= entriesMax) return;
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}
