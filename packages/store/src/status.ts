import type { SubmissionState } from '@svc/domain';
import type { Store } from './store.ts';

export interface InFlightCounts {
  /** By state; a state without any is left out. */
  submissions: Partial<Record<SubmissionState, number>>;
  /** Deliveries not yet ended, and those of them that are due now. */
  deliveriesPending: number;
  deliveriesDue: number;
}

/** What is under way, counted over the partial indexes of what has not ended. */
export async function countInFlight(store: Store): Promise<InFlightCounts> {
  const states = await store.db.$queryRaw<{ state: SubmissionState; count: number }[]>`
    SELECT state, count(*)::int AS count FROM submissions
    WHERE state IN ('pending', 'dispatched', 'running', 'settling') GROUP BY state`;
  const [deliveries] = await store.db.$queryRaw<{ pending: number; due: number }[]>`
    SELECT count(*)::int AS pending, (count(*) FILTER (WHERE next_attempt_at <= svc_now()))::int AS due
    FROM deliveries WHERE status = 'pending'`;
  return {
    submissions: Object.fromEntries(states.map(({ state, count }) => [state, count])),
    deliveriesPending: deliveries?.pending ?? 0,
    deliveriesDue: deliveries?.due ?? 0,
  };
}
