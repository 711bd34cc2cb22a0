import { assertInvariant, type OfferRecord } from '@svc/domain';
import type { LockedAccount, LockedSubmission } from './locks.ts';
import type { EndingPlan } from './plans.ts';
import { entriesOf } from '../ledger/movements.ts';
import { type SealedEvent } from '../deliveries/outbox.ts';
import type { Query, Store } from '../connection/store.ts';

/** The input of a transaction of endings. */
export interface EndingWrites {
  /** The plans of the submissions that end, in the order in which they were planned. */
  readonly moved: readonly EndingPlan[];
  /** The account of each of their tenants, with the figures after its last ending. */
  readonly accounts: ReadonlyMap<string, LockedAccount>;
  readonly events: readonly SealedEvent[];
  /** The nodes that the submission was offered to, if the request names them. */
  readonly offers: readonly OfferRecord[] | null;
}

/**
 * One statement writes states, accounts, ledger entries, events, deliveries and the running totals
 * for `quote.estimated`. The totals include only completed work whose usage was not cut. The caller
 * has locked the submissions and the accounts. Ids are conditions and not joins, so that the
 * planner can only use the primary keys. Each row finds its parameters by its position. Entries are
 * numbered in the order given.
 */
const writeSql = `
  WITH ended AS (
    UPDATE submissions s SET (state, charged_micros, cancelled_by, finished_at, offers) = (
      SELECT ($3::text[])[i], ($4::bigint[])[i], ($5::text[])[i], ($6::timestamptz[])[i],
        COALESCE($7::jsonb, s.offers)
      FROM (SELECT array_position($1::uuid[], s.id) AS i OFFSET 0) place)
    WHERE s.id = ANY($1::uuid[]) AND s.state = ($2::text[])[array_position($1::uuid[], s.id)]
    RETURNING s.state, s.job_type, s.usage_node_seconds, s.usage_cpu_seconds,
      s.usage_memory_gb_seconds, s.usage_bandwidth_mb, s.usage_actions, s.usage_capped
  ), account AS (
    UPDATE credit_accounts a SET (balance_micros, held_micros, rebate_accrued_micros, in_flight) = (
      SELECT ($9::bigint[])[i], ($10::bigint[])[i], ($11::bigint[])[i], a.in_flight - ($12::int[])[i]
      FROM (SELECT array_position($8::uuid[], a.tenant_id) AS i OFFSET 0) place)
    WHERE a.tenant_id = ANY($8::uuid[])
    RETURNING a.tenant_id
  ), entry AS (
    INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
      balance_after_micros, held_after_micros, submission_id, created_at)
    SELECT id, tenant_id, type, debit_account, credit_account, amount, balance, held, submission_id, svc_now()
    FROM unnest($13::uuid[], $14::uuid[], $15::text[], $16::text[], $17::text[], $18::bigint[],
        $19::bigint[], $20::bigint[], $21::uuid[]) WITH ORDINALITY
      AS r (id, tenant_id, type, debit_account, credit_account, amount, balance, held, submission_id, ordinality)
    ORDER BY ordinality
    RETURNING id
  ), told AS MATERIALIZED (
    SELECT * FROM unnest($22::uuid[], $23::uuid[], $24::text[], $25::uuid[], $26::text[], $27::uuid[],
        $28::int[], $29::int[])
      AS r (id, tenant_id, type, submission_id, request_id, delivery_id, body_from, body_to)
  ), event AS (
    INSERT INTO events (id, tenant_id, type, submission_id, request_id, body_sealed, created_at)
    SELECT id, tenant_id, type, submission_id, request_id,
      substring($30::bytea FROM body_from + 1 FOR body_to - body_from), svc_now()
    FROM told
    RETURNING id
  ), delivery AS (
    INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, created_at, round_started_at)
    SELECT delivery_id, tenant_id, id, type, 'pending', svc_now(), svc_now(), svc_now() FROM told
    WHERE delivery_id IS NOT NULL
    RETURNING id
  ), typical AS (
    INSERT INTO job_type_usage AS u (job_type, settled_count, node_seconds, cpu_seconds, memory_gb_seconds, bandwidth_mb, actions)
    SELECT job_type, count(*), COALESCE(sum(usage_node_seconds), 0), COALESCE(sum(usage_cpu_seconds), 0),
      COALESCE(sum(usage_memory_gb_seconds), 0), COALESCE(sum(usage_bandwidth_mb), 0), COALESCE(sum(usage_actions), 0)
    FROM ended WHERE state = 'submitted' AND NOT usage_capped GROUP BY job_type ORDER BY job_type
    ON CONFLICT (job_type) DO UPDATE SET settled_count = u.settled_count + EXCLUDED.settled_count,
      node_seconds = u.node_seconds + EXCLUDED.node_seconds, cpu_seconds = u.cpu_seconds + EXCLUDED.cpu_seconds,
      memory_gb_seconds = u.memory_gb_seconds + EXCLUDED.memory_gb_seconds,
      bandwidth_mb = u.bandwidth_mb + EXCLUDED.bandwidth_mb, actions = u.actions + EXCLUDED.actions
  )
  SELECT (SELECT count(*) FROM ended)::int AS ended, (SELECT count(*) FROM account)::int AS accounts,
    (SELECT count(*) FROM entry)::int AS entries, (SELECT count(*) FROM event)::int AS events,
    (SELECT count(*) FROM delivery)::int AS deliveries`;

interface Written {
  ended: number;
  accounts: number;
  entries: number;
  events: number;
  deliveries: number;
}

/** Writes all endings. Throws if anything was not written as it was decided. */
export async function writeEndings(
  store: Store,
  query: Query,
  { moved, accounts, events, offers }: EndingWrites,
): Promise<void> {
  const endings = moved.map(({ ending }) => ending);
  const submissions = moved.map(({ submission }) => submission);
  const endedOf = countByTenant(submissions);
  const changed = [...endedOf.keys()].map((tenantId) => accountOf(accounts, tenantId));
  const entries = entriesOf(
    store,
    moved.map(({ movements }) => movements),
  );
  const [written] = await query<Written>(writeSql, [
    submissions.map(({ id }) => id),
    submissions.map(({ state }) => state),
    endings.map(({ to }) => to),
    endings.map(({ to, chargeMicros }) => (to === 'rejected' ? null : chargeMicros)),
    endings.map((ending) => (ending.to === 'cancelled' ? ending.by : null)),
    submissions.map(({ now }) => now.toISOString()),
    offers === null ? null : JSON.stringify(offers),
    changed.map(({ tenantId }) => tenantId),
    changed.map(({ balanceMicros }) => balanceMicros),
    changed.map(({ heldMicros }) => heldMicros),
    changed.map(({ rebateAccruedMicros }) => rebateAccruedMicros),
    [...endedOf.values()],
    ...entryColumns(entries),
    ...eventColumns(events),
  ]);
  const deliveries = events.filter(({ deliveryId }) => deliveryId !== null).length;
  assertInvariant(written?.ended === moved.length, 'a locked submission changes only here');
  assertInvariant(written.accounts === changed.length, 'every tenant has an account');
  assertInvariant(written.entries === entries.length, 'every movement is an entry');
  assertInvariant(written.events === events.length, 'every event is written');
  assertInvariant(written.deliveries === deliveries, 'every event to send has a delivery');
}

function countByTenant(submissions: readonly LockedSubmission[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { tenantId } of submissions) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
  return counts;
}

function accountOf(accounts: ReadonlyMap<string, LockedAccount>, tenantId: string): LockedAccount {
  const account = accounts.get(tenantId);
  assertInvariant(account !== undefined, 'every tenant has an account');
  return account;
}

function entryColumns(entries: ReturnType<typeof entriesOf>): unknown[][] {
  return [
    entries.map((entry) => entry.id),
    entries.map((entry) => entry.tenant_id),
    entries.map((entry) => entry.type),
    entries.map((entry) => entry.debit_account),
    entries.map((entry) => entry.credit_account),
    entries.map((entry) => entry.amount_micros),
    entries.map((entry) => entry.balance_after_micros),
    entries.map((entry) => entry.held_after_micros),
    entries.map((entry) => entry.submission_id),
  ];
}

/**
 * The columns of the events. The last is all bodies concatenated; the two before it are the byte
 * offsets at which each begins and ends.
 */
function eventColumns(events: readonly SealedEvent[]): unknown[] {
  const from: number[] = [];
  const to: number[] = [];
  let length = 0;
  for (const { bodySealed } of events) {
    from.push(length);
    to.push((length += bodySealed.byteLength));
  }
  return [
    events.map(({ id }) => id),
    events.map(({ event }) => event.tenantId),
    events.map(({ event }) => event.type),
    events.map(({ event }) => event.submissionId),
    events.map(({ event }) => event.requestId),
    events.map(({ deliveryId }) => deliveryId),
    from,
    to,
    Buffer.concat(
      events.map(({ bodySealed }) => bodySealed),
      length,
    ),
  ];
}
