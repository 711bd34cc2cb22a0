import { formatCredits, type SubmissionState } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { inFlightStates } from '../schema/submission-states.ts';

/**
 * The most rows that `readServiceFigures` visits in each of three lists, oldest first: submissions
 * in flight, `pending` deliveries and `queued` deliveries.
 */
export const figureRowsMax = 20_000;

export interface ServiceFigures {
  /** One entry for each state that a submission in flight can have, even if its `count` is 0. */
  readonly submissions: readonly {
    readonly state: SubmissionState;
    readonly count: number;
    /** The longest time that a counted submission has been in `state`. 0 if `count` is 0. */
    readonly oldestAgeSeconds: number;
  }[];
  readonly heldCredits: number;
  readonly deliveriesDue: number;
  /** 0 if no delivery is due. */
  readonly oldestDueAgeSeconds: number;
  readonly nodes: {
    /** Nodes that were seen in the last day. */
    readonly seen: number;
    readonly draining: number;
    readonly disabled: number;
    readonly quarantined: number;
  };
}

interface StateRow {
  state: SubmissionState;
  count: number;
  age: number;
  held: bigint;
}

/**
 * The age of a submission is the time that it has been in its state. The age counts from the last
 * of these events: creation, dispatch, start and outcome.
 */
const submissionsSql = `SELECT state, count(*)::int AS count,
  COALESCE(max(GREATEST(extract(epoch FROM svc_now()
    - COALESCE(outcome_at, started_at, dispatched_at, created_at)), 0)), 0)::float8 AS age,
  sum(quote_max_micros)::bigint AS held
  FROM submissions
  WHERE id = ANY(ARRAY(SELECT submission_id FROM submissions_in_flight ORDER BY submission_id LIMIT ${figureRowsMax}))
  GROUP BY state`;

/** The statuses are literals, so that the planner recognises the partial index of each status. */
const deliveriesSql = `SELECT count(*)::int AS count,
  COALESCE(max(extract(epoch FROM svc_now() - due_at)), 0)::float8 AS age
  FROM ((SELECT due_at, next_attempt_at FROM deliveries WHERE status = 'pending' ORDER BY round_started_at LIMIT ${figureRowsMax})
    UNION ALL
    (SELECT due_at, next_attempt_at FROM deliveries WHERE status = 'queued' ORDER BY round_started_at LIMIT ${figureRowsMax})) d
  WHERE due_at <= svc_now() AND next_attempt_at <= svc_now()`;

/** The statement reads the whole table, because nodes are few: one per home. */
const nodesSql = `SELECT
  (count(*) FILTER (WHERE last_seen_at > svc_now() - interval '1 day'))::int AS seen,
  (count(*) FILTER (WHERE draining))::int AS draining,
  (count(*) FILTER (WHERE disabled_at IS NOT NULL))::int AS disabled,
  (count(*) FILTER (WHERE quarantined_until > svc_now()))::int AS quarantined
  FROM nodes`;

/** Reads the figures of the whole service for its metrics. Throws if Postgres is unreachable. */
export async function readServiceFigures(store: Store): Promise<ServiceFigures> {
  const rows = await store.query<StateRow>(submissionsSql, []);
  const [due] = await store.query<{ count: number; age: number }>(deliveriesSql, []);
  const [nodes] = await store.query<ServiceFigures['nodes']>(nodesSql, []);
  return {
    submissions: inFlightStates.map((state) => {
      const row = rows.find((one) => one.state === state);
      return { state, count: row?.count ?? 0, oldestAgeSeconds: row?.age ?? 0 };
    }),
    // All accounts together may hold more than the largest amount on the wire.
    heldCredits: Number(formatCredits(rows.reduce((sum, { held }) => sum + held, 0n))),
    deliveriesDue: due?.count ?? 0,
    oldestDueAgeSeconds: due?.age ?? 0,
    nodes: nodes ?? { seen: 0, draining: 0, disabled: 0, quarantined: 0 },
  };
}
