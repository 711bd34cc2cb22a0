import { leaseMs, transitions } from '@svc/domain';
import { batched } from '../connection/batching.ts';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';

export type RunCommit = { kind: 'running'; requestId: string } | { kind: 'refused' };

/**
 * Lets the assigned node begin a `dispatched` submission. Only the instance that began a `running`
 * submission may begin that submission again (CONTRACT 7, "Instances").
 */
export function commitRunning(store: Store, begin: Begin): Promise<RunCommit> {
  return beginInBatch(store, begin);
}

interface Begin {
  readonly submissionId: string;
  readonly nodeId: string;
  /**
   * Undefined if the agent sends no instance id. Such an agent may begin each submission only once.
   */
  readonly instanceId?: string | undefined;
}

const beginInBatch = batched<Begin, RunCommit>({
  run: commitAllRunning,
  shared: { intent: 'begin', submissionIdOf: ({ submissionId }) => submissionId },
});

/**
 * The planner must use the primary key (decision 23). Therefore the comparison of the node uses
 * `IS NOT DISTINCT FROM`, for which Postgres cannot use an index.
 */
const beginRuns = statement(
  { id: 'uuid[]', node_id: 'uuid[]', instance_id: 'text[]', from: 'text[]', to: 'text' },
  `
  UPDATE submissions SET state = $to, started_at = COALESCE(started_at, svc_now()),
    lease_expires_at = svc_now() + ${leaseMs} * interval '1 millisecond',
    begun_instance = ($instance_id)[array_position($id, id)]
  WHERE id = ANY($id)
    AND node_id IS NOT DISTINCT FROM ($node_id)[array_position($id, id)]
    AND (state = ANY($from) OR state = $to AND begun_instance = ($instance_id)[array_position($id, id)])
  RETURNING id, request_id`,
);

async function commitAllRunning(store: Store, begins: readonly Begin[]): Promise<RunCommit[]> {
  const outcomes = new Map<Begin, RunCommit>();
  // A statement may contain a submission only once. If two calls of a batch begin the same
  // submission, they are sent in different statements, and each call gets its own answer.
  for (let left = begins; left.length > 0;) {
    const byId = new Map(left.map((begin) => [begin.submissionId, begin]));
    const asked = [...byId.values()];
    const rows = await beginRuns<{ id: string; request_id: string }>(store.query, {
      id: asked.map(({ submissionId }) => submissionId),
      node_id: asked.map(({ nodeId }) => nodeId),
      instance_id: asked.map(({ instanceId }) => instanceId ?? null),
      ...transitions.begin,
    });
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
