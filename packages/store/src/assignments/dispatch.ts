import {
  acceptedOfferVoidAfterMs,
  dispatchDeadlineMs,
  leaseMs,
  type OfferRecord,
  runLimitMs,
  startDeadlineMs,
  type Tier,
} from '@svc/domain';
import { createBatcher, perStore } from '../connection/batching.ts';
import { payloadPlace, unsealText } from '../sealing/sealed.ts';
import { rememberTenants } from '../submissions/submission-tenants.ts';
import type { Store } from '../connection/store.ts';

/** A submission that may be offered. */
export interface DispatchableSubmission {
  id: string;
  tier: Tier;
  jobType: string;
  payloadText: string;
  requestId: string;
  /** Until the dispatch deadline, `dispatchDeadlineMs` at most. */
  remainingMs: number;
  /** The database's clock when it was loaded. */
  loadedAt: Date;
}

/**
 * Returns the submissions of `ids` that are pending and before their dispatch deadline. A
 * submission after its deadline is never offered. Calls that wait at the same time share one
 * statement.
 */
export async function loadForDispatch(
  store: Store,
  ids: readonly string[],
): Promise<DispatchableSubmission[]> {
  const batcher = loadBatcherOf(store);
  const loaded = await Promise.all(ids.map((id) => batcher.call(id)));
  return loaded.filter((submission) => submission !== null);
}

const loadBatcherOf = perStore((store) =>
  createBatcher<string, DispatchableSubmission | null>({
    run: (ids) => loadAll(store, ids),
    answerMsMax: dispatchDeadlineMs,
  }),
);

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

const dispatchableSql = `
  SELECT id, tenant_id, tier, job_type, payload_sealed, request_id,
    (extract(epoch FROM dispatch_deadline_at - svc_now()) * 1000)::float8 AS remaining_ms,
    svc_now() AS now
  FROM submissions
  WHERE id = ANY($1::uuid[]) AND state = $2 AND payload_sealed IS NOT NULL
    AND svc_now() < dispatch_deadline_at`;

async function loadAll(
  store: Store,
  ids: readonly string[],
): Promise<(DispatchableSubmission | null)[]> {
  const rows = await store.query<DispatchableRow>(dispatchableSql, [ids, 'pending']);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = byId.get(id);
    if (row === undefined) return null;
    return {
      id,
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
  | { kind: 'dispatched'; payloadText: string; requestId: string }
  | { kind: 'not_pending' };

interface Dispatch {
  readonly submissionId: string;
  readonly nodeId: string;
  readonly offers?: readonly OfferRecord[];
}

const dispatchBatcherOf = perStore((store) =>
  createBatcher<Dispatch, DispatchCommit>({
    run: (dispatches) => commitAllDispatched(store, dispatches),
    answerMsMax: acceptedOfferVoidAfterMs,
  }),
);

/**
 * Assigns a submission to one node, for good. It does so only while the submission is pending and
 * before its deadline, so that the first accept to commit wins (CONTRACT 7, "At most
 * once"). The caller may send the payload to the node only after this has returned `dispatched`.
 * `offers`: the nodes that the submission was offered to.
 *
 * Calls that wait at the same time share one statement; each gets its own outcome. If the answer is
 * lost, the batch runs again. With `offers`, a call then finds out whether its first run was
 * committed. Every answer comes within the time for which the node keeps its accepted offer.
 */
export function commitDispatched(store: Store, dispatch: Dispatch): Promise<DispatchCommit> {
  return dispatchBatcherOf(store).call(dispatch);
}

/**
 * The statement finds rows by a condition on ids instead of a join, and takes the state as a
 * parameter (see `plannerOptions`). The planner can therefore only use the primary key. The
 * parameters of a row are at the position of its id. If two accepts of one submission are in one
 * statement, the first one decides. If it is committed, the second comes too late; if it is
 * refused, the submission is no longer pending.
 */
const dispatchedSql = `
  UPDATE submissions SET state = 'dispatched', node_id = ($2::uuid[])[array_position($1::uuid[], id)],
    dispatched_at = svc_now(), offers = ($3::text[])[array_position($1::uuid[], id)]::jsonb,
    start_deadline_at = svc_now() + ${startDeadlineMs} * interval '1 millisecond',
    run_deadline_at = svc_now() + interval '1 millisecond' * CASE tier
      WHEN 'instant' THEN ${runLimitMs.instant} WHEN 'priority' THEN ${runLimitMs.priority}
      ELSE ${runLimitMs.standard} END
  WHERE id = ANY($1::uuid[]) AND state = $4 AND payload_sealed IS NOT NULL
    AND svc_now() < dispatch_deadline_at
  RETURNING id, tenant_id, job_type, payload_sealed, request_id`;

interface DispatchedRow extends PayloadRow {
  readonly request_id: string;
}

async function commitAllDispatched(
  store: Store,
  dispatches: readonly Dispatch[],
): Promise<DispatchCommit[]> {
  const firsts = new Map<string, Dispatch>();
  for (const dispatch of dispatches)
    if (!firsts.has(dispatch.submissionId)) firsts.set(dispatch.submissionId, dispatch);
  const asked = [...firsts.values()];
  const rows = await giveAll(store, asked);
  const committed = await findCommitted(store, asked, rows);
  rememberTenants(store, [...rows, ...committed]);
  const byId = new Map([...rows, ...committed].map((row) => [row.id, row]));
  return dispatches.map((dispatch) => {
    const { submissionId } = dispatch;
    const row = firsts.get(submissionId) === dispatch ? byId.get(submissionId) : undefined;
    if (row === undefined) return { kind: 'not_pending' };
    return { kind: 'dispatched', payloadText: payloadOf(store, row), requestId: row.request_id };
  });
}

/** Dispatches that were sent to Postgres and got no answer. They may or may not be committed. */
const unanswered = new WeakSet<Dispatch>();

async function giveAll(store: Store, asked: readonly Dispatch[]): Promise<DispatchedRow[]> {
  try {
    return await store.query<DispatchedRow>(dispatchedSql, [
      asked.map(({ submissionId }) => submissionId),
      asked.map(({ nodeId }) => nodeId),
      asked.map(({ offers }) => (offers === undefined ? null : JSON.stringify(offers))),
      'pending',
    ]);
  } catch (error) {
    for (const dispatch of asked) unanswered.add(dispatch);
    throw error;
  }
}

const committedSql = `
  SELECT id, tenant_id, job_type, payload_sealed, request_id FROM submissions
  WHERE id = ANY($1::uuid[]) AND state = $4 AND payload_sealed IS NOT NULL
    AND node_id IS NOT DISTINCT FROM ($2::uuid[])[array_position($1::uuid[], id)]
    AND offers @> ($3::text[])[array_position($1::uuid[], id)]::jsonb`;

/**
 * Finds the dispatches that were committed although their first answer was lost. Each row must have
 * the same node and the accept of the same offer. An offer is accepted once, and only the call that
 * made it runs again. The accept of another call can therefore not be mistaken for it.
 */
async function findCommitted(
  store: Store,
  asked: readonly Dispatch[],
  given: readonly DispatchedRow[],
): Promise<DispatchedRow[]> {
  const givenIds = new Set(given.map(({ id }) => id));
  const doubtful = asked.flatMap((dispatch) => {
    const { submissionId, nodeId, offers } = dispatch;
    const accepted = offers?.find(({ answer }) => answer === 'accepted');
    if (!unanswered.has(dispatch) || givenIds.has(submissionId) || accepted === undefined)
      return [];
    const { offerId, answer } = accepted;
    return [{ submissionId, nodeId, accept: JSON.stringify([{ offerId, answer }]) }];
  });
  if (doubtful.length === 0) return [];
  return await store.query<DispatchedRow>(committedSql, [
    doubtful.map(({ submissionId }) => submissionId),
    doubtful.map(({ nodeId }) => nodeId),
    doubtful.map(({ accept }) => accept),
    'dispatched',
  ]);
}

/**
 * Replaces the record of the offers of a submission. It is called if the statement that ended the
 * offering did not know the final record: another offer was still open, or a cancel ended the
 * offering. A committed accept stays `accepted`.
 */
export async function recordOffers(
  store: Store,
  submissionId: string,
  offers: readonly OfferRecord[],
): Promise<void> {
  await store.db.$executeRaw`
    UPDATE submissions s SET offers = (
      SELECT jsonb_agg(COALESCE(accepted.record, told.record) ORDER BY told.number)
      FROM jsonb_array_elements(${JSON.stringify(offers)}::jsonb) WITH ORDINALITY AS told (record, number)
      LEFT JOIN jsonb_array_elements(COALESCE(s.offers, '[]'::jsonb)) AS accepted (record)
        ON accepted.record->>'offerId' = told.record->>'offerId' AND accepted.record->>'answer' = 'accepted')
    WHERE id = ${submissionId}::uuid`;
}

export type RunCommit = { kind: 'running'; requestId: string } | { kind: 'refused' };

/**
 * Lets a node begin a submission. The statement takes a submission that is `dispatched` to this
 * node. It also takes a `running` one if the same instance of the agent began it before. That
 * repeat renews the lease and is safe, because the instance has stored that it began. Any other
 * instance is refused, because it cannot know what the first one has done. An agent that sends no
 * instance id may begin once (CONTRACT 7, "Instances"). `refused`: the submission has
 * ended, belongs to another node, or was begun by another instance. Calls that wait at the same
 * time share one statement.
 */
export function commitRunning(store: Store, begin: Begin): Promise<RunCommit> {
  return runBatcherOf(store).call(begin);
}

interface Begin {
  readonly submissionId: string;
  readonly nodeId: string;
  /** The instance of the agent that asks. Undefined if the agent sends no instance id. */
  readonly instanceId?: string | undefined;
}

const runBatcherOf = perStore((store) =>
  createBatcher<Begin, RunCommit>({
    run: (begins) => commitAllRunning(store, begins),
  }),
);

/**
 * The node is compared with `IS NOT DISTINCT FROM`, here and in every statement that knows the id.
 * No index serves that operator, so the planner uses the primary key and not the index of a node's
 * assignments. It chose that index while the table was small.
 */
const runningSql = `
  UPDATE submissions SET state = 'running', started_at = COALESCE(started_at, svc_now()),
    lease_expires_at = svc_now() + ${leaseMs} * interval '1 millisecond',
    begun_instance = ($3::text[])[array_position($1::uuid[], id)]
  WHERE id = ANY($1::uuid[])
    AND node_id IS NOT DISTINCT FROM ($2::uuid[])[array_position($1::uuid[], id)]
    AND (state = $4 OR state = $5 AND begun_instance = ($3::text[])[array_position($1::uuid[], id)])
  RETURNING id, request_id`;

async function commitAllRunning(store: Store, begins: readonly Begin[]): Promise<RunCommit[]> {
  const outcomes = new Map<Begin, RunCommit>();
  // A submission may occur once in a statement. If two nodes ask for it, each gets its own answer.
  for (let left = begins; left.length > 0;) {
    const byId = new Map(left.map((begin) => [begin.submissionId, begin]));
    const asked = [...byId.values()];
    const rows = await store.query<{ id: string; request_id: string }>(runningSql, [
      asked.map(({ submissionId }) => submissionId),
      asked.map(({ nodeId }) => nodeId),
      asked.map(({ instanceId }) => instanceId ?? null),
      'dispatched',
      'running',
    ]);
    const running = new Map(rows.map((row) => [row.id, row.request_id]));
    for (const begin of asked) {
      const requestId = running.get(begin.submissionId);
      const outcome = requestId === undefined ? refused : { kind: 'running' as const, requestId };
      outcomes.set(begin, outcome);
    }
    left = left.filter((begin) => !outcomes.has(begin));
  }
  return begins.map((begin) => outcomes.get(begin) ?? refused);
}

const refused: RunCommit = { kind: 'refused' };

export interface Assignment {
  submissionId: string;
  state: 'dispatched' | 'running' | 'settling';
}

const endedSql = `
  SELECT id FROM submissions
  WHERE id = ANY($1::uuid[]) AND state NOT IN ('pending', 'dispatched', 'running')`;

/** Returns those of the submissions that have ended, settled or not. */
export async function findEnded(store: Store, submissionIds: readonly string[]): Promise<string[]> {
  const rows = await store.query<{ id: string }>(endedSql, [submissionIds]);
  return rows.map(({ id }) => id);
}

/**
 * A node's assignments that have not ended, as the service knows them. They are compared with the
 * node's `hello`.
 */
export async function assignmentsOf(store: Store, nodeId: string): Promise<Assignment[]> {
  return store.db.$queryRaw<Assignment[]>`
    SELECT id AS "submissionId", state FROM submissions
    WHERE node_id = ${nodeId}::uuid AND state IN ('dispatched', 'running', 'settling')`;
}
