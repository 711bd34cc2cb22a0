import type { OfferResult } from '@svc/contracts';
import type { DispatcherBus, FleetRegistry, Producer, Reply } from '@svc/queue';
import type { Clock, Logger } from '@svc/runtime';
import type { Store } from '@svc/store';
import type { Tracing } from '@svc/tracing';
import type { Links } from './links/links.ts';
import type { DispatcherObserver } from './observer.ts';
import type { Inbox } from './offering/inbox.ts';
import type { Timers } from './timers.ts';

export type OfferingEvent =
  | {
      readonly kind: 'offer_ended';
      readonly offerId: string;
      readonly result: OfferResult;
      readonly reason?: string | undefined;
      /** From the dispatcher that committed `dispatched`, for the waiting gateway. */
      readonly proof?: string | undefined;
    }
  /** The submission was cancelled, or its outcome is stored. */
  | { readonly kind: 'stopped' };

/**
 * The state and resources of one dispatcher process. The ids of submissions, nodes, links and
 * dispatchers are UUIDs, and the ids of offers are wire ids (`ofr_…`).
 */
export interface Dispatcher extends DispatcherObserver {
  /**
   * The id of this start of the process. After a restart, other dispatchers treat this one as a new
   * dispatcher.
   */
  readonly id: string;
  readonly store: Store;
  readonly producer: Producer;
  readonly fleet: FleetRegistry;
  readonly bus: DispatcherBus;
  /**
   * Sends a reply about a submission to the gateway that waits on `channel`. Throws if Redis is
   * unreachable.
   */
  reply(channel: string, reply: Reply): Promise<void>;
  /** Makes the `dispatchProof` of a submission. Call it only after the commit. */
  proveDispatched(submissionId: string): string;
  readonly links: Links;
  readonly offerings: Map<string, Inbox<OfferingEvent>>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly tracing: Tracing;
  readonly logger: Logger;
  readonly isSandbox: boolean;
}

/**
 * Lets `work` continue in the background, and only logs its failure. Use this only for work that
 * may be lost. `task` completes the message "could not …".
 */
export function inBackground(dispatcher: Dispatcher, task: string, work: Promise<unknown>): void {
  work.catch((error: unknown) =>
    dispatcher.logger.warn(
      { event: 'dispatcher.background_task_failed', err: error, task },
      `could not ${task}`,
    ),
  );
}
