import { type RatePolicy, takeToken, type TokenBucket } from '@svc/domain';

import type { Clock } from './clock.ts';

/** Who sends a request, before anybody knows whether that is true. */
export interface Sender {
  readonly address: string;
  /** The identity header as sent; empty where there is none. */
  readonly identity: string;
}

/**
 * The limit by address before authentication: it counts what fails, so that forged signatures
 * cannot buy hashing and look-ups, and who signs correctly never meets it.
 */
export interface FailureLimit {
  /** How long this sender has to wait before a request of it is looked at; 0: it has not. */
  waitMs(sender: Sender): number;
  failed(sender: Sender): void;
  succeeded(sender: Sender): void;
}

/** Generous: no client gets there by mistake, and what it lets through costs next to nothing. */
const policyByDefault: RatePolicy = { perSecond: 200, burst: 2_000 };
const bucketsMax = 10_000;
const trustedMax = 10_000;

/**
 * Failures are counted for each address; but a key that has signed correctly from an address is
 * counted for itself there, so that somebody else behind the same address cannot shut it out.
 */
export function createFailureLimit({
  clock,
  policy = policyByDefault,
}: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly policy?: RatePolicy;
}): FailureLimit {
  const buckets = new Map<string, TokenBucket>();
  const trusted = new Set<string>();

  function nameOf({ address, identity }: Sender): string {
    const own = `${address} ${identity}`;
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
      // Deleted first, so that the map stays in the order of use.
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
