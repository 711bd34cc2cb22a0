import type { SubmissionState } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { inFlightIds } from '../schema/submission-states.ts';

export interface InFlightCounts {
  /** The number of submissions in flight by state. States without submissions are left out. */
  submissions: Partial<Record<SubmissionState, number>>;
  /**
   * The number of webhook deliveries that have not ended. Deliveries that wait until a tenant polls
   * them are not counted.
   */
  deliveriesPending: number;
  deliveriesDue: number;
}

export async function countInFlight(store: Store): Promise<InFlightCounts> {
  const states = await store.query<{ state: SubmissionState; count: number }>(
    `SELECT state, count(*)::int AS count FROM submissions
     WHERE id = ANY(${inFlightIds}) GROUP BY state`,
    [],
  );
  const [deliveries] = await store.query<{ pending: number; due: number }>(
    `SELECT count(*)::int AS pending, (count(*) FILTER (WHERE next_attempt_at <= svc_now()))::int AS due
     FROM ((SELECT next_attempt_at FROM deliveries WHERE status = 'pending')
       UNION ALL (SELECT next_attempt_at FROM deliveries WHERE status = 'queued')) d`,
    [],
  );
  return {
    submissions: Object.fromEntries(states.map(({ state, count }) => [state, count])),
    deliveriesPending: deliveries?.pending ?? 0,
    deliveriesDue: deliveries?.due ?? 0,
  };
}

export interface NodeCounts {
  known: number;
  /** The number of nodes that were seen in the last 24 hours. */
  seenLately: number;
  draining: number;
  disabled: number;
}

/** Reads the whole table, because there are few nodes. */
export async function countNodes(store: Store): Promise<NodeCounts> {
  const [row] = await store.query<NodeCounts>(
    `SELECT count(*)::int AS known,
       (count(*) FILTER (WHERE last_seen_at > svc_now() - interval '1 day'))::int AS "seenLately",
       (count(*) FILTER (WHERE draining))::int AS draining,
       (count(*) FILTER (WHERE disabled_at IS NOT NULL))::int AS disabled
     FROM nodes`,
    [],
  );
  return row ?? { known: 0, seenLately: 0, draining: 0, disabled: 0 };
}
