import { toWireId } from '@svc/domain';
import { endAsLost, lockAssignments } from '../assignments/lost-assignments.ts';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { nodeSecretPlace } from '../sealing/sealed.ts';
import { lockNode, type NodeRecord } from './nodes.ts';

/**
 * An operator's changes of a node. Each is one transaction with its audit entry. After the commit,
 * the caller notifies the dispatchers.
 */

/**
 * Stops offers to a node, also after it reconnects. The node finishes its running submissions. Null
 * for an unknown node.
 */
export async function drainNode(
  store: Store,
  nodeId: string,
  by: Author,
): Promise<NodeRecord | null> {
  return store.transaction(async (query) => {
    const found = await lockNode(query, nodeId);
    if (found === null || found.draining) return found;
    await query('UPDATE nodes SET draining = true, changed_at = svc_now() WHERE id = $1::uuid', [
      nodeId,
    ]);
    await audit(query, by, 'node.drain', found, { draining: true });
    return { ...found, draining: true };
  });
}

/**
 * Ends the drain, the disabling and the quarantine of a node, and sets its counts of failures and
 * of quarantines to 0. Null for an unknown node.
 */
export async function enableNode(
  store: Store,
  nodeId: string,
  by: Author,
): Promise<NodeRecord | null> {
  return store.transaction(async (query) => {
    const found = await lockNode(query, nodeId);
    if (found === null) return null;
    const [changed] = await query(
      `UPDATE nodes SET draining = false, disabled_at = NULL, quarantined_until = NULL,
         quarantine_reason = NULL, unfinished_count = 0, error_count = 0, quarantine_count = 0,
         changed_at = svc_now()
       WHERE id = $1::uuid AND (draining OR disabled_at IS NOT NULL OR quarantined_until IS NOT NULL
         OR unfinished_count > 0 OR error_count > 0)
       RETURNING 1`,
      [nodeId],
    );
    if (changed === undefined) return found;
    const enabled = { draining: false, disabledAt: null, quarantinedUntil: null };
    await audit(query, by, 'node.enable', found, enabled);
    return { ...found, ...enabled, quarantineReason: null };
  });
}

/** `slotsMax` must be 1 to 200. Returns null for an unknown node. */
export async function setSlotsMax(
  store: Store,
  { nodeId, slotsMax }: { nodeId: string; slotsMax: number },
  by: Author,
): Promise<NodeRecord | null> {
  return store.transaction(async (query) => {
    const found = await lockNode(query, nodeId);
    if (found === null || found.slotsMax === slotsMax) return found;
    await query('UPDATE nodes SET slots_max = $2, changed_at = svc_now() WHERE id = $1::uuid', [
      nodeId,
      slotsMax,
    ]);
    await audit(query, by, 'node.update', found, { slotsMax });
    return { ...found, slotsMax };
  });
}

/**
 * Disables a node. Each of its assignments that has no outcome gets the outcome `node_lost`. The
 * caller must start the settlement of `lostSubmissionIds`. Null for an unknown node.
 */
export async function disableNode(
  store: Store,
  nodeId: string,
  by: Author,
): Promise<{ node: NodeRecord; lostSubmissionIds: string[] } | null> {
  return store.transaction(async (query) => {
    // The assignments are ended even if the node is already disabled, because one of them may have
    // been committed at the moment when an operator disabled the node.
    const locked = await lockAssignments(query, nodeId);
    const found = await lockNode(query, nodeId);
    if (found === null) return null;
    const lostSubmissionIds = await endAsLost(store, query, locked);
    const lost = lostSubmissionIds.length;
    if (found.disabledAt !== null && lost === 0) return { node: found, lostSubmissionIds };
    const [row] = await query<{ disabled_at: Date }>(
      `UPDATE nodes SET disabled_at = COALESCE(disabled_at, svc_now()), changed_at = svc_now()
       WHERE id = $1::uuid RETURNING disabled_at`,
      [nodeId],
    );
    const disabledAt = row?.disabled_at ?? null;
    await audit(query, by, 'node.disable', found, { disabledAt, lost });
    return { node: { ...found, disabledAt }, lostSubmissionIds };
  });
}

export type NodeRotation =
  | { kind: 'rotated'; node: NodeRecord }
  /**
   * The rotation is refused, because two secrets are valid already. A third one would end the
   * oldest, and a node that still signs with the oldest could not connect.
   */
  | { kind: 'two_valid' }
  | { kind: 'unknown_node' };

/**
 * Gives a node a new secret. The previous one stays valid for `overlapMs`. While two secrets are
 * valid, a third is refused; with `force`, the oldest is dropped.
 */
export async function rotateNodeSecret(
  store: Store,
  rotation: { nodeId: string; secret: string; overlapMs: number; force: boolean },
  by: Author,
): Promise<NodeRotation> {
  const { nodeId, secret, overlapMs, force } = rotation;
  return store.transaction(async (query): Promise<NodeRotation> => {
    const found = await lockNode(query, nodeId);
    if (found === null) return { kind: 'unknown_node' };
    const dropped = found.previousSecretExpiresAt === null ? 0 : 1;
    if (dropped > 0 && !force) return { kind: 'two_valid' };
    const place = nodeSecretPlace({ id: nodeId, version: found.secretVersion + 1 });
    const sealed = store.sealer.seal(place, secret);
    const [row] = await query<{ expires_at: Date }>(
      `UPDATE nodes SET secret_sealed = $2, secret_version = secret_version + 1,
         previous_secret_sealed = secret_sealed, changed_at = svc_now(),
         previous_secret_expires_at = svc_now() + $3 * interval '1 millisecond'
       WHERE id = $1::uuid RETURNING previous_secret_expires_at AS expires_at`,
      [nodeId, sealed, Math.round(overlapMs)],
    );
    await audit(query, by, 'node.rotate_secret', found, { overlapMs, dropped });
    const node = {
      ...found,
      secretVersion: found.secretVersion + 1,
      previousSecretExpiresAt: row?.expires_at ?? null,
    };
    return { kind: 'rotated', node };
  });
}

async function audit(
  query: Query,
  by: Author,
  action: string,
  before: NodeRecord,
  after: object,
): Promise<void> {
  const { draining, disabledAt, secretVersion, slotsMax, quarantinedUntil } = before;
  await appendAudit(query, by, {
    action,
    subject: { kind: 'node', id: toWireId('nod', before.id) },
    before: { draining, disabledAt, secretVersion, slotsMax, quarantinedUntil },
    after,
  });
}
