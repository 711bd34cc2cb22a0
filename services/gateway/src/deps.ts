import type {
  connectRedis,
  EnqueueDispatch,
  Producer,
  RateLimiter,
  ReplyListener,
} from '@svc/queue';
import type { Clock, Logger } from '@svc/runtime';
import type { EnvironmentName, Store } from '@svc/store';
import type { Tracing } from '@svc/tracing';
import type { KeyUses } from './access/key-uses.ts';
import type { Pricing } from './pricing/pricing.ts';
import type { GatewayRail } from './purchase-intents/rail.ts';
import type { EventWaiters } from './webhook-endpoints/event-waiters.ts';

export interface GatewayDeps {
  readonly environment: EnvironmentName;
  /** If true, webhook URLs may use `http` and may have a private host. */
  readonly allowPrivateNetworks: boolean;
  /**
   * The size of the token bucket for the sign-ups of one group of client addresses. An empty bucket
   * is full again after an hour. If the size is 5, one token comes every 12 minutes.
   */
  readonly signupsPerHour: number;
  /** The limit of webhook attempts per hour that a tenant gets when it signs up. */
  readonly signupWebhookAttemptsPerHour: number;
  /** The limit of submissions in flight that a tenant gets when it signs up. */
  readonly signupInFlightMax: number;
  readonly limiter: RateLimiter;
  readonly store: Store;
  /** A connection of role `producer`: its commands fail fast while Redis is unreachable. */
  readonly redis: ReturnType<typeof connectRedis>;
  readonly redisPrefix: string;
  readonly producer: Producer;
  readonly enqueueDispatch: EnqueueDispatch;
  readonly replies: ReplyListener;
  readonly pricing: Pricing;
  /**
   * The key of the HMACs that are stored as hashes of requests. Without the key, a guessed request
   * cannot be checked against its hash. The same key masks the ledger numbers in cursors.
   */
  readonly requestHashKey: Uint8Array;
  readonly keyUses: KeyUses;
  readonly eventWaiters: EventWaiters;
  /** Null if the Solana rail is off. */
  readonly rail: GatewayRail | null;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly tracing: Tracing;
  readonly logger: Logger;
}
