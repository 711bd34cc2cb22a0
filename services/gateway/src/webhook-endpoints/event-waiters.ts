import type { Logger } from '@svc/runtime';

/** The most requests of one gateway, and of one tenant at it, that wait for events. */
const waitersMax = 1_000;
const tenantWaitersMax = 10;
/** Between two looks at all awaited endpoints together. */
const lookMs = 250;

export interface AwaitedEvents {
  readonly tenantId: string;
  readonly endpointId: string;
  /** The position behind which an event ends the wait. */
  readonly after: bigint;
}

export interface EventWaiters {
  /** `ended`: there may be events, or the time is over. `full`: too many requests wait. */
  wait(awaited: AwaitedEvents, timeoutMs: number): Promise<'ended' | 'full'>;
  /** Ends all waits. */
  close(): void;
}

interface Waiter extends AwaitedEvents {
  readonly untilMs: number;
  readonly end: () => void;
}

/**
 * Requests that wait for events. One statement looks for all of them together, so a waiting request
 * occupies no connection to Postgres, and a wait needs no Redis.
 */
export function createEventWaiters(deps: {
  readonly findNews: (awaited: readonly AwaitedEvents[]) => Promise<Set<string>>;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}): EventWaiters {
  const waiting = new Set<Waiter>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function end(which: (waiter: Waiter) => boolean): void {
    for (const waiter of [...waiting].filter(which)) {
      waiting.delete(waiter);
      waiter.end();
    }
  }

  async function look(): Promise<void> {
    try {
      // One look for each endpoint, from the earliest position that a request waits behind.
      const earliest = new Map<string, AwaitedEvents>();
      for (const one of waiting) {
        const known = earliest.get(one.endpointId);
        if (known === undefined || one.after < known.after) earliest.set(one.endpointId, one);
      }
      const news = await deps.findNews([...earliest.values()]);
      end(({ endpointId }) => news.has(endpointId));
    } catch (error) {
      deps.logger.warn({ err: error }, 'could not look for awaited events');
    }
    const nowMs = deps.monotonicMs();
    end(({ untilMs }) => untilMs <= nowMs);
    timer = undefined;
    schedule();
  }

  function schedule(): void {
    if (timer !== undefined || isClosed || waiting.size === 0) return;
    timer = setTimeout(() => void look(), lookMs);
  }

  return {
    wait(awaited, timeoutMs) {
      if (isClosed) return Promise.resolve('ended');
      const own = [...waiting].filter(({ tenantId }) => tenantId === awaited.tenantId);
      if (waiting.size >= waitersMax || own.length >= tenantWaitersMax)
        return Promise.resolve('full');
      return new Promise((resolve) => {
        const untilMs = deps.monotonicMs() + timeoutMs;
        waiting.add({ ...awaited, untilMs, end: () => resolve('ended') });
        schedule();
      });
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      end(() => true);
    },
  };
}
