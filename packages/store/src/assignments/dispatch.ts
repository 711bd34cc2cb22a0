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
 * Those of `ids` that are pending and before their deadline; what is late is never offered. What is
 * loaded at the same time shares a statement.
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
 * Gives a submission to one node, for good: only while it is pending and before its deadline, so
 * that the first accept to commit wins (CONTRACT 7, "At most once"). The node may be
 * sent the payload only after this has returned `dispatched`. `offers`: whom it was offered to.
 * Calls that wait at the same time share one statement; each gets its own outcome. If the answer is
 * lost, they are asked again together: with `offers`, what was committed says so. No answer comes
 * later than the node keeps its accepted offer.
 */
export function commitDispatched(store: Store, dispatch: Dispatch): Promise<DispatchCommit> {
  return dispatchBatcherOf(store).call(dispatch);
}

/**
 * The ids are a condition and not a join, and the state is a parameter (see `plannerOptions`), so
 * that the planner can only walk the primary key; what belongs to a row is found by the place of its
 * id. Of two accepts of one submission in one statement the first one decides: where it is given to
 * that node, the other comes too late, and where it is not, it is pending no more.
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

/** Whether these were committed is not known: they were sent, and no answer came. */
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
 * Of those that are asked again after their answer was lost, and are pending no more: what was
 * given to that very node by the accept of that very offer. An offer is accepted once, and only
 * the call that made it is asked again, so that nobody else's accept can pass for it.
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
 * Puts right whom a submission was offered to, where more became of it than the statement knew that
 * ended the offering: another offer was open then, or a cancel ended it. An accept that was
 * committed stays one.
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
 * Lets a node begin. The statement takes a submission that is `dispatched` to this node. It also
 * takes one that is `running` if the same instance of the agent was told to begin before: its lease
 * is renewed, and it acts once all the same because it has stored that it began. Any other instance
 * is refused, because it cannot know what the first one has done. An agent that sends no instance id
 * is told once (CONTRACT 7, "Instances"). `refused`: it has ended, is not this node's, or
 * another process was told to begin.
 *
 * Whose it is is asked with `IS NOT DISTINCT FROM`, here and wherever the id is known: no index
 * serves that, so that the planner cannot take the index of what a node has in hand instead of the
 * primary key, which it did while the table was small. Calls that wait at the same time share one
 * statement.
 */
export function commitRunning(store: Store, begin: Begin): Promise<RunCommit> {
  return runBatcherOf(store).call(begin);
}

interface Begin {
  readonly submissionId: string;
  readonly nodeId: string;
  /** The process that asks; undefined: an agent that sends no instance id. */
  readonly instanceId?: string | undefined;
}

const runBatcherOf = perStore((store) =>
  createBatcher<Begin, RunCommit>({
    run: (begins) => commitAllRunning(store, begins),
  }),
);

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
  // A submission stands once in a statement: of two nodes that ask for it, each gets its own answer.
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

/** Which of these have ended, settled or not yet. */
export async function findEnded(store: Store, submissionIds: readonly string[]): Promise<string[]> {
  const rows = await store.query<{ id: string }>(endedSql, [submissionIds]);
  return rows.map(({ id }) => id);
}

/** What a node has in hand as the service knows it: what its `hello` is compared with. */
export async function assignmentsOf(store: Store, nodeId: string): Promise<Assignment[]> {
  return store.db.$queryRaw<Assignment[]>`
    SELECT id AS "submissionId", state FROM submissions
    WHERE node_id = ${nodeId}::uuid AND state IN ('dispatched', 'running', 'settling')`;
}
