import type {
  connectRedis,
  EnqueueDispatch,
  Producer,
  RateLimiter,
  ReplyListener,
} from '@svc/queue';
import type { Clock, Logger } from '@svc/runtime';
import type { EnvironmentName, Store } from '@svc/store';
import type { Pricing } from './pricing/pricing.ts';

/** What the endpoints work with; opened and closed by `run`. */
export interface GatewayDeps {
  readonly environment: EnvironmentName;
  /** Whether webhook URLs may be private, and plain http. */
  readonly allowPrivateNetworks: boolean;
  /** Tenants that may sign up in an hour from one address. */
  readonly signupsPerHour: number;
  /** Webhook attempts in an hour that each of them may cause. */
  readonly signupWebhookAttemptsPerHour: number;
  /** Submissions that each of them may have in flight. */
  readonly signupInFlightMax: number;
  readonly limiter: RateLimiter;
  readonly store: Store;
  /** Of role `producer`: fails fast. */
  readonly redis: ReturnType<typeof connectRedis>;
  readonly redisPrefix: string;
  readonly producer: Producer;
  readonly enqueueDispatch: EnqueueDispatch;
  readonly replies: ReplyListener;
  readonly pricing: Pricing;
  /** Hashes of requests are keyed: what they hold is easily guessed. */
  readonly requestHashKey: Uint8Array;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
}
