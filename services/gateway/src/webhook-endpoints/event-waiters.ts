import type { Logger } from '@svc/runtime';

/** The most requests that wait for events at one gateway, over all tenants. */
const waitersMax = 1_000;
/** The most requests of one tenant that wait for events at one gateway. */
const tenantWaitersMax = 10;
/** The pause before each query. One query looks for the events of all awaited endpoints. */
const lookMs = 250;

export interface AwaitedEvents {
  readonly tenantId: string;
  readonly endpointId: string;
  /** An event with a higher position ends the wait. */
  readonly after: bigint;
}

export interface EventWaiters {
  /**
   * Resolves with `ended` if there may be events, the endpoint is deleted, the time is over or the
   * gateway closes. Resolves at once with `full` if too many requests wait already.
   */
  wait(awaited: AwaitedEvents, timeoutMs: number): Promise<'ended' | 'full'>;
  close(): void;
}

interface Waiter extends AwaitedEvents {
  readonly untilMs: number;
  readonly end: () => void;
}

/**
 * Lets requests wait for events. A waiting request occupies no connection to Postgres and needs no
 * Redis.
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
      // Asks once for each endpoint, with the lowest `after` of the endpoint's requests.
      const earliest = new Map<string, AwaitedEvents>();
      for (const one of waiting) {
        const known = earliest.get(one.endpointId);
        if (known === undefined || one.after < known.after) earliest.set(one.endpointId, one);
      }
      const news = await deps.findNews([...earliest.values()]);
      // This also ends requests with a higher `after`, although they may have no event yet.
      end(({ endpointId }) => news.has(endpointId));
    } catch (error) {
      deps.logger.warn({ err: error }, 'could not read the events that requests wait for');
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
