import type { SubmissionState } from '@svc/domain';
import { sealServiceFailure } from './service-failures.ts';
import type { Queryable, Store } from './store.ts';

/**
 * Assignments that end as `node_lost` because of what a dispatcher found out about their node, not
 * because of a deadline. A dispatcher may have waited for Postgres for seconds, and its node may
 * have linked elsewhere and begun meanwhile. So each finding names what must still be true, and the
 * transaction checks it under a lock on the node's row that a new upgrade, a hello and `svc node
 * enable` wait for. The node's row is locked before submissions, here and in `node-changes.ts`.
 */

export type HelloFinding =
  | { readonly kind: 'lost'; readonly submissionIds: readonly string[] }
  /** The node has a newer link, and what this one said does not count. */
  | { readonly kind: 'superseded' };

/**
 * Ends those of `submissionIds` that this node was given and has not ended: the hello of the link
 * `linkEpoch` did not name them. Does nothing unless that link is still the node's current one
 * (CONTRACT.md section 7, "Instances").
 */
export async function loseUnnamed(
  store: Store,
  hello: { nodeId: string; linkEpoch: number; submissionIds: readonly string[] },
): Promise<HelloFinding> {
  const { nodeId, linkEpoch } = hello;
  return store.db.$transaction(async (tx): Promise<HelloFinding> => {
    const current = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM nodes WHERE id = ${nodeId}::uuid AND link_epoch = ${linkEpoch}::bigint FOR SHARE`;
    if (current.length === 0) return { kind: 'superseded' };
    const locked = await lockOf(tx, nodeId, hello.submissionIds, ['dispatched', 'running']);
    const submissionIds = await lose(store, tx, locked);
    return { kind: 'lost', submissionIds };
  });
}

/**
 * Ends a submission whose `dispatched` this process has committed and whose payload it will never
 * send, because the link ended before. Only this process could have sent it, so this holds whichever
 * link the node has now. Refused unless the submission is still `dispatched` to this node.
 */
export async function loseUnsent(
  store: Store,
  { nodeId, submissionId }: { nodeId: string; submissionId: string },
): Promise<boolean> {
  return store.db.$transaction(async (tx) => {
    const lost = await lose(store, tx, await lockOf(tx, nodeId, [submissionId], ['dispatched']));
    return lost.length > 0;
  });
}

/**
 * Ends what was committed to a node while it was being disabled. Does nothing if the node has been
 * enabled again meanwhile. Returns what is to be settled.
 */
export async function loseLeftBehind(store: Store, nodeId: string): Promise<readonly string[]> {
  return store.db.$transaction(async (tx) => {
    const disabled = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM nodes WHERE id = ${nodeId}::uuid AND disabled_at IS NOT NULL FOR SHARE`;
    return disabled.length === 0 ? [] : await loseAssignments(store, tx, nodeId);
  });
}

/**
 * Ends everything that the node was given and has not ended. The caller holds the lock on the
 * node's row. Returns what is to be settled.
 */
export async function loseAssignments(
  store: Store,
  tx: Queryable,
  nodeId: string,
): Promise<string[]> {
  const assigned = await tx.$queryRaw<LockedRow[]>`
    SELECT id, tenant_id AS "tenantId" FROM submissions WHERE node_id = ${nodeId}::uuid AND state IN ('dispatched', 'running')
    ORDER BY id FOR UPDATE`;
  return await lose(store, tx, assigned);
}

async function lockOf(
  tx: Queryable,
  nodeId: string,
  submissionIds: readonly string[],
  states: readonly SubmissionState[],
): Promise<LockedRow[]> {
  return tx.$queryRaw<LockedRow[]>`
    SELECT id, tenant_id AS "tenantId" FROM submissions WHERE id = ANY(${submissionIds}::uuid[]) AND state = ANY(${states})
      AND node_id IS NOT DISTINCT FROM ${nodeId}::uuid
    ORDER BY id FOR UPDATE`;
}

interface LockedRow {
  readonly id: string;
  readonly tenantId: string;
}

/** Returns the ids. */
async function lose(store: Store, tx: Queryable, locked: readonly LockedRow[]): Promise<string[]> {
  if (locked.length === 0) return [];
  const submissionIds = locked.map(({ id }) => id);
  const rows = locked.map((row) => {
    const sealed = sealServiceFailure(store, row, 'node_lost');
    return { id: row.id, sealed: Buffer.from(sealed).toString('hex') };
  });
  await tx.$executeRaw`
    UPDATE submissions s SET state = 'settling', outcome_kind = 'failed', outcome_by = 'service',
      outcome_at = svc_now(), failure_code = 'node_lost', outcome_sealed = decode(r.sealed, 'hex')
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (id uuid, sealed text)
    WHERE s.id = r.id AND s.id = ANY(${submissionIds}::uuid[])`;
  return submissionIds;
}
