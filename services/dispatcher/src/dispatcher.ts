import type { BadFrameCode, OfferResult } from '@svc/contracts';
import type { DispatcherBus, FleetRegistry, Producer, Reply } from '@svc/queue';
import type { Clock, Logger } from '@svc/runtime';
import type { Store } from '@svc/store';

import type { Inbox } from './offering/inbox.ts';
import type { Links } from './links/links.ts';
import type { Timers } from './timers.ts';

/** What happens to a submission while it is offered. */
export type OfferingEvent =
  | {
      readonly kind: 'offer_ended';
      readonly offerId: string;
      readonly result: OfferResult;
      readonly reason?: string | undefined;
    }
  /** It has ended otherwise, by a cancel say. */
  | { readonly kind: 'stopped' };

/** What the parts of one dispatcher process share. Ids are UUIDs, but an offer's (as on the wire). */
export interface Dispatcher {
  /** Of this process: a restarted one is another dispatcher. */
  readonly id: string;
  readonly store: Store;
  readonly producer: Producer;
  readonly fleet: FleetRegistry;
  readonly bus: DispatcherBus;
  /** Tells a waiting gateway what became of a submission; throws when Redis cannot be reached. */
  reply(channel: string, reply: Reply): Promise<void>;
  readonly links: Links;
  /** What is being offered from here, by submission. */
  readonly offerings: Map<string, Inbox<OfferingEvent>>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly isSandbox: boolean;
  countBadFrame(code: BadFrameCode): void;
}

/**
 * For what is best done and need not be: the fleet registry and the bus are mended by themselves.
 * A failure is logged and goes no further.
 */
export function inBackground(dispatcher: Dispatcher, what: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => dispatcher.logger.warn({ err: error }, `could not ${what}`));
}
