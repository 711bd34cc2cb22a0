import type { SubmissionState } from '@svc/domain';
import type { Store } from '../connection/store.ts';

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

export interface NodeCounts {
  known: number;
  /** Said hello or was heard of in the last day. */
  seenLately: number;
  draining: number;
  disabled: number;
}

/** Nodes are few: one for each home. */
export async function countNodes(store: Store): Promise<NodeCounts> {
  const [row] = await store.db.$queryRaw<NodeCounts[]>`
    SELECT count(*)::int AS known,
      (count(*) FILTER (WHERE last_seen_at > svc_now() - interval '1 day'))::int AS "seenLately",
      (count(*) FILTER (WHERE draining))::int AS draining,
      (count(*) FILTER (WHERE disabled_at IS NOT NULL))::int AS disabled
    FROM nodes`;
  return row ?? { known: 0, seenLately: 0, draining: 0, disabled: 0 };
}
