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
  failed(sender: Sender): void;
  succeeded(sender: Sender): void;
}

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

  return {
    waitMs(sender) {
      const bucket = buckets.get(nameOf(sender));
      if (bucket === undefined) return 0;
      return takeToken(bucket, policy, clock.monotonicMs()).decision.retryInMs;
    },
    failed(sender) {
      const name = nameOf(sender);
      const { bucket } = takeToken(buckets.get(name), policy, clock.monotonicMs());
      // Deleting the entry before it is set again keeps the map in the order of the last failures.
      buckets.delete(name);
      buckets.set(name, bucket);
      dropOldest(buckets, bucketsMax);
    },
    succeeded({ address, identity }) {
      const own = `${address} ${identity}`;
      trusted.delete(own);
      trusted.add(own);
      dropOldest(trusted, trustedMax);
    },
  };
}

function dropOldest(entries: Map<string, unknown> | Set<string>, entriesMax: number): void {
  if (entries.size <= entriesMax) return;
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}
