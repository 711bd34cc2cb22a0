import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import { assignedOrSettlingStates, inFlightIds, openStates } from '../schema/submission-states.ts';

export interface Assignment {
  submissionId: string;
  state: 'dispatched' | 'running' | 'settling';
}

const findNotOpen = statement(
  { id: 'uuid[]', open: 'text[]' },
  'SELECT id FROM submissions WHERE id = ANY($id) AND state <> ALL($open)',
);

/**
 * Returns the ids of those submissions that are not open: an outcome is stored, or they have ended.
 * Leaves out unknown ids.
 */
export async function findEnded(store: Store, submissionIds: readonly string[]): Promise<string[]> {
  const rows = await findNotOpen<{ id: string }>(store.query, {
    id: submissionIds,
    open: openStates,
  });
  return rows.map(({ id }) => id);
}

/** A node's submissions in the states `dispatched`, `running` and `settling`. */
export async function assignmentsOf(store: Store, nodeId: string): Promise<Assignment[]> {
  return await findAssignments<Assignment>(store.query, {
    node_id: nodeId,
    state: assignedOrSettlingStates,
  });
}

const findAssignments = statement(
  { node_id: 'uuid', state: 'text[]' },
  `
  SELECT id AS "submissionId", state FROM submissions
  WHERE id = ANY(${inFlightIds}) AND node_id = $node_id AND state = ANY($state)`,
);
