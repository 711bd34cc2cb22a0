import {
  acceptedOfferVoidAfterMs,
  dispatchDeadlineMs,
  type OfferRecord,
  rateJsonOf,
  runLimitMs,
  startDeadlineMs,
  type Tier,
  transitions,
} from '@svc/domain';
import type { Attempt } from '../connection/batch-run.ts';
import { batched } from '../connection/batching.ts';
import { answeredWithin } from '../connection/calls.ts';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import { pinnedCards } from '../pricing/pinned-cards.ts';
import { receiptSql, sealReceipt } from '../recovery/receipts.ts';
import { textOfOffers } from '../schema/offer-texts.ts';
import { payloadPlace, unsealText } from '../sealing/sealed.ts';
import { rememberTenants } from '../submissions/submission-tenants.ts';

export interface DispatchableSubmission {
  id: string;
  tenantId: string;
  tier: Tier;
  jobType: string;
  payloadText: string;
  requestId: string;
  /** Milliseconds from `loadedAt` to the dispatch deadline. At most `dispatchDeadlineMs`. */
  remainingMs: number;
  /** The database's time when the submission was loaded. */
  loadedAt: Date;
}

/**
 * Returns the submissions of `ids` that are pending and before their dispatch deadline. Calls that
 * wait at the same time share one statement.
 */
export async function loadForDispatch(
  store: Store,
  ids: readonly string[],
): Promise<DispatchableSubmission[]> {
  const loaded = await Promise.all(ids.map((id) => loadInBatch(store, id)));
  return loaded.filter((submission) => submission !== null);
}

const loadInBatch = batched<string, DispatchableSubmission | null>({
  run: loadAll,
  answerMsMax: dispatchDeadlineMs,
});

interface PayloadRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly job_type: string;
  readonly payload_sealed: Uint8Array;
}

function payloadOf({ sealer }: Store, row: PayloadRow): string {
  const { id, tenant_id: tenantId, job_type: jobType } = row;
  return unsealText(sealer, payloadPlace({ id, tenantId, jobType }), row.payload_sealed);
}

interface DispatchableRow extends PayloadRow {
  readonly tier: Tier;
  readonly request_id: string;
  readonly remaining_ms: number;
  readonly now: Date;
}

const loadDispatchable = statement(
  { id: 'uuid[]', from: 'text[]' },
  `
  SELECT id, tenant_id, tier, job_type, payload_sealed, request_id,
    (extract(epoch FROM dispatch_deadline_at - svc_now()) * 1000)::float8 AS remaining_ms,
    svc_now() AS now
  FROM submissions
  WHERE id = ANY($id) AND state = ANY($from) AND svc_now() < dispatch_deadline_at`,
);

async function loadAll(
  store: Store,
  ids: readonly string[],
): Promise<(DispatchableSubmission | null)[]> {
  const { from } = transitions.dispatch;
  const rows = await loadDispatchable<DispatchableRow>(store.query, { id: ids, from });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = byId.get(id);
    if (row === undefined) return null;
    return {
      id,
      tenantId: row.tenant_id,
      tier: row.tier,
      jobType: row.job_type,
      payloadText: payloadOf(store, row),
      requestId: row.request_id,
      remainingMs: Math.min(row.remaining_ms, dispatchDeadlineMs),
      loadedAt: row.now,
    };
  });
}

export type DispatchCommit =
  /** The node keeps `receipt`, and returns it after the database was restored from a backup. */
  | { kind: 'dispatched'; payloadText: string; requestId: string; receipt: string }
  | { kind: 'not_pending' }
  /** The submission was assigned, but its payload does not open, so no node can get it. */
  | { kind: 'unopened'; error: unknown };

interface Dispatch {
  readonly submissionId: string;
  readonly nodeId: string;
  /**
   * The offers to record, including the accepted one. If the commit is repeated because its answer
   * was lost, the accepted offer shows that the first commit succeeded.
   */
  readonly offers?: readonly OfferRecord[];
}

const dispatchInBatch = batched<Dispatch, DispatchCommit>({
  run: commitAllDispatched,
  answerMsMax: acceptedOfferVoidAfterMs,
});

/**
 * Assigns a pending submission to one node, for good (CONTRACT 7, "At most once"). The caller may
 * send the payload only after the result `dispatched`.
 */
export function commitDispatched(store: Store, dispatch: Dispatch): Promise<DispatchCommit> {
  return dispatchInBatch(store, dispatch);
}

/**
 * The planner must use only the primary key. A join with the ids, or a literal state, could get
 * another plan (decision 25).
 */
const assignNodes = statement(
  { id: 'uuid[]', node_id: 'uuid[]', offers: 'text[]', from: 'text[]', to: 'text' },
  `
  UPDATE submissions SET state = $to, node_id = ($node_id)[array_position($id, id)],
    dispatched_at = svc_now(), offer_records = ($offers)[array_position($id, id)],
    start_deadline_at = svc_now() + ${startDeadlineMs} * interval '1 millisecond',
    run_deadline_at = svc_now() + interval '1 millisecond' * CASE tier
      WHEN 'instant' THEN ${runLimitMs.instant} WHEN 'priority' THEN ${runLimitMs.priority}
      ELSE ${runLimitMs.standard} END
  WHERE id = ANY($id) AND state = ANY($from) AND svc_now() < dispatch_deadline_at
  RETURNING id, tenant_id, tier, rate_card_version, job_type, payload_sealed, request_id, ${receiptSql} AS receipt`,
);

interface DispatchedRow extends PayloadRow {
  readonly tier: Tier;
  readonly rate_card_version: number;
  readonly request_id: string;
  readonly receipt: string;
}

async function commitAllDispatched(
  store: Store,
  dispatches: readonly Dispatch[],
  attempt: Attempt,
): Promise<DispatchCommit[]> {
  const firsts = new Map<string, Dispatch>();
  for (const dispatch of dispatches)
    if (!firsts.has(dispatch.submissionId)) firsts.set(dispatch.submissionId, dispatch);
  const asked = [...firsts.values()];
  const assigned = await assignAll(store, asked);
  const earlier = attempt === 'repeat' ? await findCommitted(store, asked, assigned) : [];
  const rows = [...assigned, ...earlier];
  rememberTenants(store, rows);
  const cardOf = await cardsOf(store, rows);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return dispatches.map((dispatch) => {
    const { submissionId, nodeId } = dispatch;
    const row = firsts.get(submissionId) === dispatch ? byId.get(submissionId) : undefined;
    if (row === undefined) return { kind: 'not_pending' };
    const card = cardOf(row.rate_card_version);
    const rate = card && rateJsonOf(card, row.job_type, row.tier);
    const receipt = sealReceipt(store.sealer, { submissionId, nodeId }, row.receipt, rate);
    const { request_id: requestId } = row;
    try {
      return { kind: 'dispatched', payloadText: payloadOf(store, row), requestId, receipt };
    } catch (error) {
      // The others of this batch were assigned too, and must get their payloads.
      return { kind: 'unopened', error };
    }
  });
}

/**
 * The cards of the quotes, nearly always from memory. The commit has happened, so a failed read must
 * not fail the call: the receipts then have no rates.
 */
async function cardsOf(
  store: Store,
  rows: readonly DispatchedRow[],
): ReturnType<typeof pinnedCards> {
  const versions = rows.map((row) => row.rate_card_version);
  const asked = pinnedCards(store, store.query, versions);
  return await answeredWithin(dispatchDeadlineMs, asked).catch(() => () => undefined);
}

function assignAll(store: Store, asked: readonly Dispatch[]): Promise<DispatchedRow[]> {
  return assignNodes<DispatchedRow>(store.query, {
    id: asked.map(({ submissionId }) => submissionId),
    node_id: asked.map(({ nodeId }) => nodeId),
    offers: asked.map(({ offers }) => (offers === undefined ? null : textOfOffers(offers))),
    ...transitions.dispatch,
  });
}

/** Node and accepted offer must match, because another call may have assigned the submission. */
const findAssigned = statement(
  { id: 'uuid[]', node_id: 'uuid[]', offer_id: 'text[]', state: 'text' },
  `
  SELECT id, tenant_id, tier, rate_card_version, job_type, payload_sealed, request_id, ${receiptSql} AS receipt
  FROM submissions
  WHERE id = ANY($id) AND state = $state
    AND node_id IS NOT DISTINCT FROM ($node_id)[array_position($id, id)]
    AND EXISTS (SELECT FROM jsonb_array_elements(offer_records::jsonb) AS offer
      WHERE offer->>0 = ($offer_id)[array_position($id, id)] AND offer->>2 = 'accepted')`,
);

/**
 * Finds the dispatches in `asked` that the first attempt committed. The answer to that attempt was
 * lost.
 */
async function findCommitted(
  store: Store,
  asked: readonly Dispatch[],
  assigned: readonly DispatchedRow[],
): Promise<DispatchedRow[]> {
  const assignedIds = new Set(assigned.map(({ id }) => id));
  const doubtful = asked.flatMap(({ submissionId, nodeId, offers }) => {
    const accepted = offers?.find(({ answer }) => answer === 'accepted');
    if (assignedIds.has(submissionId) || accepted === undefined) return [];
    return [{ submissionId, nodeId, offerId: accepted.offerId }];
  });
  if (doubtful.length === 0) return [];
  return await findAssigned<DispatchedRow>(store.query, {
    id: doubtful.map(({ submissionId }) => submissionId),
    node_id: doubtful.map(({ nodeId }) => nodeId),
    offer_id: doubtful.map(({ offerId }) => offerId),
    state: transitions.dispatch.to,
  });
}

/** Replaces the recorded offers of a submission, but keeps one that is recorded as `accepted`. */
export async function recordOffers(
  store: Store,
  submissionId: string,
  offers: readonly OfferRecord[],
): Promise<void> {
  await replaceOffers(store.query, { id: submissionId, offers: textOfOffers(offers) });
}

/** Changes nothing if an earlier build recorded offers, in the old column `offers`. */
const replaceOffers = statement(
  { id: 'uuid', offers: 'jsonb' },
  `
  UPDATE submissions s SET offer_records = (
    SELECT jsonb_agg(COALESCE(accepted.record, told.record) ORDER BY told.number)::text
    FROM jsonb_array_elements($offers) WITH ORDINALITY AS told (record, number)
    FULL JOIN (
      SELECT record FROM jsonb_array_elements(COALESCE(s.offer_records, '[]')::jsonb) AS stored (record)
      WHERE record->>2 = 'accepted'
    ) accepted ON accepted.record->>0 = told.record->>0)
  WHERE id = $id AND offers IS NULL`,
);
