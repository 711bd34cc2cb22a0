import { type SubmissionState, transitions } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import { recoveryInForce } from '../recovery/in-force.ts';
import { assignedStates, inFlightIds } from '../schema/submission-states.ts';
import { nodeEndingsSql } from './node-endings.ts';
import { sealServiceFailure } from './service-failures.ts';

/**
 * `endUnnamed`, `endUnsent` and `endAfterDisable` lock submissions before nodes (decision 19). Each
 * function checks its condition on locked rows (decision 18).
 */

export type HelloFinding =
  | { readonly kind: 'lost'; readonly submissionIds: readonly string[] }
  /** The node has a newer link than the one that sent this hello, so nothing was stored. */
  | { readonly kind: 'superseded' };

/**
 * Stores `node_lost` for the assignments in `submissionIds`, which the hello of the link
 * `linkEpoch` did not name (CONTRACT 7, "Instances"). Stores nothing during a recovery.
 */
export async function endUnnamed(
  store: Store,
  hello: { nodeId: string; linkEpoch: number; submissionIds: readonly string[] },
): Promise<HelloFinding> {
  const { nodeId, linkEpoch } = hello;
  return store.transaction(async (query): Promise<HelloFinding> => {
    const locked = await lockThose(query, nodeId, hello.submissionIds, assignedStates);
    const current = await query(
      'SELECT 1 FROM nodes WHERE id = $1::uuid AND link_epoch = $2::bigint FOR NO KEY UPDATE',
      [nodeId, linkEpoch],
    );
    if (current.length === 0) return { kind: 'superseded' };
    // Stores nothing during a recovery. A submission that the hello did not name may have ended
    // between the backup and the restore. The node will report how it ended.
    if ((await recoveryInForce({ query })) !== null) return { kind: 'lost', submissionIds: [] };
    return { kind: 'lost', submissionIds: await endAsLost(store, query, locked) };
  });
}

/**
 * Stores `node_lost` for a submission whose payload was never sent to the node (decision 18).
 * Returns false if it is not `dispatched` to the node.
 */
export async function endUnsent(
  store: Store,
  { nodeId, submissionId }: { nodeId: string; submissionId: string },
): Promise<boolean> {
  return store.transaction(async (query) => {
    const locked = await lockThose(query, nodeId, [submissionId], transitions.begin.from);
    return (await endAsLost(store, query, locked)).length > 0;
  });
}

/**
 * Stores `node_lost` for assignments that were committed too late for `disableNode` to end them.
 * Does nothing if the node is enabled again. The caller must settle the returned ids.
 */
export async function endAfterDisable(store: Store, nodeId: string): Promise<readonly string[]> {
  return store.transaction(async (query) => {
    const locked = await lockAssignments(query, nodeId);
    const disabled = await query(
      'SELECT 1 FROM nodes WHERE id = $1::uuid AND disabled_at IS NOT NULL FOR NO KEY UPDATE',
      [nodeId],
    );
    return disabled.length === 0 ? [] : await endAsLost(store, query, locked);
  });
}

interface Locked {
  readonly id: string;
  readonly tenantId: string;
}

export async function lockAssignments(query: Query, nodeId: string): Promise<Locked[]> {
  return await lockAssignedTo<Locked>(query, { node_id: nodeId, state: assignedStates });
}

const lockAssignedTo = statement(
  { node_id: 'uuid', state: 'text[]' },
  `SELECT id, tenant_id AS "tenantId" FROM submissions
   WHERE id = ANY(${inFlightIds}) AND node_id = $node_id AND state = ANY($state)
   ORDER BY id FOR UPDATE`,
);

async function lockThose(
  query: Query,
  nodeId: string,
  submissionIds: readonly string[],
  states: readonly SubmissionState[],
): Promise<Locked[]> {
  return await lockNamed<Locked>(query, { id: submissionIds, state: states, node_id: nodeId });
}

const lockNamed = statement(
  { id: 'uuid[]', state: 'text[]', node_id: 'uuid' },
  `SELECT id, tenant_id AS "tenantId" FROM submissions WHERE id = ANY($id) AND state = ANY($state)
     AND node_id IS NOT DISTINCT FROM $node_id
   ORDER BY id FOR UPDATE`,
);

const storeNodeLost = statement(
  { id: 'uuid[]', sealed: 'bytea[]', to: 'text' },
  `
  WITH ended AS (
    UPDATE submissions s SET state = $to, outcome_kind = 'failed', outcome_by = 'service',
      outcome_at = svc_now(), failure_code = 'node_lost',
      started_at = CASE WHEN EXISTS (SELECT FROM recoveries WHERE ended_at IS NULL)
        THEN COALESCE(started_at, svc_now()) ELSE started_at END,
      outcome_sealed = ($sealed)[array_position($id, s.id)]
    WHERE s.id = ANY($id)
    RETURNING s.node_id, s.dispatched_at, s.outcome_by, s.failure_code
  ), ${nodeEndingsSql}
  SELECT count(*) FROM ended`,
);

/**
 * Stores the outcome `node_lost` for locked submissions. The caller has checked that their state
 * allows it. Returns their ids.
 */
export async function endAsLost(
  store: Store,
  query: Query,
  locked: readonly Locked[],
): Promise<string[]> {
  const submissionIds = locked.map(({ id }) => id);
  if (locked.length === 0) return submissionIds;
  const sealed = locked.map((one) => sealServiceFailure(store, one, 'node_lost'));
  const { to } = transitions.store_outcome;
  await storeNodeLost(query, { id: submissionIds, sealed, to });
  return submissionIds;
}
