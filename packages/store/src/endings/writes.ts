import { assertInvariant, type OfferRecord, transitions } from '@svc/domain';
import { concatenated } from '../connection/concatenated.ts';
import type { Query } from '../connection/query.ts';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import { deliveryColumns, type SealedEvent } from '../deliveries/outbox.ts';
import { entriesOf, entryColumns, entryParameters, insertEntriesSql } from '../ledger/movements.ts';
import { textOfOffers } from '../schema/offer-texts.ts';
import type { LockedAccount } from './locks.ts';
import type { EndingPlan } from './plans.ts';

export interface EndingWrites {
  readonly moved: readonly EndingPlan[];
  /** The accounts by tenant id, with their figures after the last of these endings. */
  readonly accounts: ReadonlyMap<string, LockedAccount>;
  readonly events: readonly SealedEvent[];
  /**
   * These offers replace the stored offers of a rejected submission. Null: the stored offers stay.
   */
  readonly offers: readonly OfferRecord[] | null;
}

/**
 * In the updates, `i` is the position of a row's id and values in their arrays. Rows are found by
 * `= ANY`, so that the planner can only use the primary keys (decision 23).
 */
const writeRows = statement(
  {
    id: 'uuid[]',
    state_before: 'text[]',
    state: 'text[]',
    charged: 'bigint[]',
    cancelled_by: 'text[]',
    finished_at: 'timestamptz[]',
    offers: 'text',
    account_tenant_id: 'uuid[]',
    balance: 'bigint[]',
    held: 'bigint[]',
    rebate_accrued: 'bigint[]',
    ended_count: 'int[]',
    ...entryParameters,
    event_id: 'uuid[]',
    event_tenant_id: 'uuid[]',
    event_type: 'text[]',
    event_submission_id: 'uuid[]',
    event_request_id: 'text[]',
    body_from: 'int[]',
    body_to: 'int[]',
    bodies: 'bytea',
    delivery_id: 'uuid[]',
    delivery_event: 'int[]',
    delivery_status: 'text[]',
    delivery_endpoint_id: 'uuid[]',
    delivery_target_id: 'uuid[]',
    completed: 'text',
  },
  `
  WITH ended AS (
    UPDATE submissions s SET (state, charged_micros, cancelled_by, finished_at, offer_records) = (
      SELECT ($state)[i], ($charged)[i], ($cancelled_by)[i], ($finished_at)[i],
        COALESCE($offers, s.offer_records)
      FROM (SELECT array_position($id, s.id) AS i OFFSET 0) place)
    WHERE s.id = ANY($id) AND s.state = ($state_before)[array_position($id, s.id)]
    RETURNING s.state, s.job_type, s.usage_node_seconds, s.usage_cpu_seconds,
      s.usage_memory_gb_seconds, s.usage_bandwidth_mb, s.usage_actions, s.usage_capped
  ), account AS (
    UPDATE credit_accounts a SET (balance_micros, held_micros, rebate_accrued_micros, in_flight) = (
      SELECT ($balance)[i], ($held)[i], ($rebate_accrued)[i], a.in_flight - ($ended_count)[i]
      FROM (SELECT array_position($account_tenant_id, a.tenant_id) AS i OFFSET 0) place)
    WHERE a.tenant_id = ANY($account_tenant_id)
    RETURNING a.tenant_id
  ), entry AS (
    ${insertEntriesSql}
  ), told AS MATERIALIZED (
    SELECT * FROM unnest($event_id, $event_tenant_id, $event_type, $event_submission_id, $event_request_id,
        $body_from, $body_to)
      AS r (id, tenant_id, type, submission_id, request_id, body_from, body_to)
  ), event AS (
    INSERT INTO events (id, tenant_id, type, submission_id, request_id, body_sealed, created_at)
    SELECT id, tenant_id, type, submission_id, request_id,
      substring($bodies FROM body_from + 1 FOR body_to - body_from), svc_now()
    FROM told
    RETURNING id
  ), delivery AS (
    INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, created_at, round_started_at,
      endpoint_id, target_id)
    SELECT r.id, ($event_tenant_id)[r.event], ($event_id)[r.event], ($event_type)[r.event], r.status,
      CASE WHEN r.status <> 'waiting' THEN svc_now() END, svc_now(), svc_now(), r.endpoint_id, r.target_id
    FROM unnest($delivery_id, $delivery_event, $delivery_status, $delivery_endpoint_id, $delivery_target_id)
      AS r (id, event, status, endpoint_id, target_id)
    RETURNING id
  ), typical AS (
    INSERT INTO job_type_usage AS u (job_type, settled_count, node_seconds, cpu_seconds, memory_gb_seconds, bandwidth_mb, actions)
    SELECT job_type, count(*), COALESCE(sum(usage_node_seconds), 0), COALESCE(sum(usage_cpu_seconds), 0),
      COALESCE(sum(usage_memory_gb_seconds), 0), COALESCE(sum(usage_bandwidth_mb), 0), COALESCE(sum(usage_actions), 0)
    FROM ended WHERE state = $completed AND NOT usage_capped GROUP BY job_type ORDER BY job_type
    ON CONFLICT (job_type) DO UPDATE SET settled_count = u.settled_count + EXCLUDED.settled_count,
      node_seconds = u.node_seconds + EXCLUDED.node_seconds, cpu_seconds = u.cpu_seconds + EXCLUDED.cpu_seconds,
      memory_gb_seconds = u.memory_gb_seconds + EXCLUDED.memory_gb_seconds,
      bandwidth_mb = u.bandwidth_mb + EXCLUDED.bandwidth_mb, actions = u.actions + EXCLUDED.actions
  )
  SELECT (SELECT count(*) FROM ended)::int AS ended, (SELECT count(*) FROM account)::int AS accounts,
    (SELECT count(*) FROM entry)::int AS entries, (SELECT count(*) FROM event)::int AS events,
    (SELECT count(*) FROM delivery)::int AS deliveries`,
);

interface Written {
  ended: number;
  accounts: number;
  entries: number;
  events: number;
  deliveries: number;
}

/**
 * Writes the planned endings of locked submissions in one statement. Throws InvariantError if the
 * statement wrote more or fewer rows than planned.
 */
export async function writeEndings(
  store: Store,
  query: Query,
  { moved, accounts, events, offers }: EndingWrites,
): Promise<void> {
  const entries = entriesOf(
    store,
    moved.map(({ movements }) => movements),
  );
  const tenantIds = [...new Set(moved.map(({ submission }) => submission.tenantId))];
  const deliveries = deliveryColumns(events);
  const [written] = await writeRows<Written>(query, {
    ...endingColumns(moved),
    ...accountColumns(tenantIds, moved, accounts),
    ...entryColumns(entries),
    ...eventColumns(events),
    ...deliveries,
    offers: offers === null ? null : textOfOffers(offers),
    completed: transitions.settle_completed.to,
  });
  assertInvariant(
    written?.ended === moved.length,
    'no other transaction changes a locked submission',
  );
  assertInvariant(written.accounts === tenantIds.length, 'every tenant has an account');
  assertInvariant(written.entries === entries.length, 'every movement is written as an entry');
  assertInvariant(written.events === events.length, 'every event is written');
  assertInvariant(
    written.deliveries === deliveries.delivery_id.length,
    'every delivery is written',
  );
}

function endingColumns(moved: readonly EndingPlan[]) {
  return {
    id: moved.map(({ submission }) => submission.id),
    state_before: moved.map(({ submission }) => submission.state),
    state: moved.map(({ ending }) => ending.to),
    charged: moved.map(({ ending }) => (ending.to === 'rejected' ? null : ending.chargeMicros)),
    cancelled_by: moved.map(({ ending }) => (ending.to === 'cancelled' ? ending.by : null)),
    finished_at: moved.map(({ submission }) => submission.now.toISOString()),
  };
}

function accountColumns(
  tenantIds: readonly string[],
  moved: readonly EndingPlan[],
  accounts: ReadonlyMap<string, LockedAccount>,
) {
  const changed = tenantIds.map((tenantId) => accountOf(accounts, tenantId));
  return {
    account_tenant_id: tenantIds,
    balance: changed.map(({ balanceMicros }) => balanceMicros),
    held: changed.map(({ heldMicros }) => heldMicros),
    rebate_accrued: changed.map(({ rebateAccruedMicros }) => rebateAccruedMicros),
    ended_count: tenantIds.map(
      (tenantId) => moved.filter(({ submission }) => submission.tenantId === tenantId).length,
    ),
  };
}

function accountOf(accounts: ReadonlyMap<string, LockedAccount>, tenantId: string): LockedAccount {
  const account = accounts.get(tenantId);
  assertInvariant(account !== undefined, 'every tenant has an account');
  return account;
}

function eventColumns(events: readonly SealedEvent[]) {
  const { bytes, from, to } = concatenated(events.map(({ bodySealed }) => bodySealed));
  return {
    event_id: events.map(({ id }) => id),
    event_tenant_id: events.map(({ event }) => event.tenantId),
    event_type: events.map(({ event }) => event.type),
    event_submission_id: events.map(({ event }) => event.submissionId),
    event_request_id: events.map(({ event }) => event.requestId),
    body_from: from,
    body_to: to,
    bodies: bytes,
  };
}
