import type { IntentStatus } from '@svc/domain';
import type { Logger } from '@svc/runtime';

/** The most requests of one gateway that wait for payments at the same time. */
const waitersMax = 5_000;
/** The most requests of one tenant that wait for payments at one gateway, as for events. */
const tenantWaitersMax = 10;
/** The pause before each look. A look is one statement for the statuses of all awaited intents. */
const lookMs = 250;

type WaitEnd =
  /** The intent has left `pending`, the time is over or the gateway closes. */
  | 'ended'
  /** `waitersMax` requests wait already, or `tenantWaitersMax` of the tenant. */
  | 'full';

interface AwaitedIntent {
  readonly tenantId: string;
  readonly reference: string;
}

export interface IntentWaiters {
  wait(awaited: AwaitedIntent, timeoutMs: number): Promise<WaitEnd>;
  close(): void;
}

interface Waiter {
  readonly tenantId: string;
  readonly untilMs: number;
  readonly end: () => void;
}

/**
 * Lets requests wait for payments. A waiting request costs no connection to Postgres and no call to
 * the RPC server (CONTRACT 8).
 */
export function createIntentWaiters(deps: {
  readonly readStatuses: (references: readonly string[]) => Promise<Map<string, IntentStatus>>;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}): IntentWaiters {
  const waiting = new Map<string, Set<Waiter>>();
  const countByTenant = new Map<string, number>();
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function countOne(tenantId: string, change: 1 | -1): void {
    count += change;
    const own = (countByTenant.get(tenantId) ?? 0) + change;
    if (own === 0) countByTenant.delete(tenantId);
    else countByTenant.set(tenantId, own);
  }

  function endAll(reference: string, which: (waiter: Waiter) => boolean): void {
    const waiters = waiting.get(reference) ?? new Set<Waiter>();
    for (const waiter of [...waiters].filter(which)) {
      waiters.delete(waiter);
      countOne(waiter.tenantId, -1);
      waiter.end();
    }
    if (waiters.size === 0) waiting.delete(reference);
  }

  async function look(): Promise<void> {
    try {
      const statuses = await deps.readStatuses([...waiting.keys()]);
      for (const [reference, status] of statuses) {
        if (status !== 'pending') endAll(reference, () => true);
      }
    } catch (error) {
      deps.logger.warn(
        { err: error },
        'could not read the purchase intents that requests wait for',
      );
    }
    const nowMs = deps.monotonicMs();
    for (const reference of waiting.keys()) endAll(reference, ({ untilMs }) => untilMs <= nowMs);
    timer = undefined;
    schedule();
  }

  function schedule(): void {
    if (timer !== undefined || isClosed || waiting.size === 0) return;
    timer = setTimeout(() => void look(), lookMs);
  }

  return {
    wait({ tenantId, reference }, timeoutMs) {
      if (isClosed) return Promise.resolve('ended');
      const own = countByTenant.get(tenantId) ?? 0;
      if (count >= waitersMax || own >= tenantWaitersMax) return Promise.resolve('full');
      return new Promise((resolve) => {
        const waiters = waiting.get(reference) ?? new Set<Waiter>();
        const untilMs = deps.monotonicMs() + timeoutMs;
        waiters.add({ tenantId, untilMs, end: () => resolve('ended') });
        waiting.set(reference, waiters);
        countOne(tenantId, 1);
        schedule();
      });
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (const reference of waiting.keys()) endAll(reference, () => true);
    },
  };
}
