import { toWireId } from '@svc/domain';
import { type Author, insertAudit } from './audit.ts';
import { loseAssignments } from './lost-assignments.ts';
import { lockNode, type NodeRecord } from './nodes.ts';
import { nodeSecretPlace } from './sealed.ts';
import type { Queryable, Store } from './store.ts';

/**
 * What operators do to a node. Each is in the audit log with the change; a second time changes
 * nothing. The dispatcher that holds the node's link is told afterwards, and looks by itself.
 */

/** No more offers, over reconnects too; what it runs it finishes. Null for an unknown node. */
export async function drainNode(
  store: Store,
  nodeId: string,
  by: Author,
): Promise<NodeRecord | null> {
  return store.db.$transaction(async (tx) => {
    const found = await lockNode(tx, nodeId);
    if (found === null || found.draining) return found;
    await tx.$executeRaw`
      UPDATE nodes SET draining = true, changed_at = svc_now() WHERE id = ${nodeId}::uuid`;
    await audit(tx, by, 'node.drain', found, { draining: true });
    return { ...found, draining: true };
  });
}

/** Takes a drain and a disabling back. Null for an unknown node. */
export async function enableNode(
  store: Store,
  nodeId: string,
  by: Author,
): Promise<NodeRecord | null> {
  return store.db.$transaction(async (tx) => {
    const found = await lockNode(tx, nodeId);
    if (found === null || (!found.draining && found.disabledAt === null)) return found;
    await tx.$executeRaw`
      UPDATE nodes SET draining = false, disabled_at = NULL, changed_at = svc_now()
      WHERE id = ${nodeId}::uuid`;
    await audit(tx, by, 'node.enable', found, { draining: false, disabledAt: null });
    return { ...found, draining: false, disabledAt: null };
  });
}

/**
 * Refuses its links from now on. What it was given ends as lost in the same transaction, with a
 * full refund: those submissions are to be settled. Null for an unknown node.
 */
export async function disableNode(
  store: Store,
  nodeId: string,
  by: Author,
): Promise<{ node: NodeRecord; lostSubmissionIds: string[] } | null> {
  return store.db.$transaction(async (tx) => {
    const found = await lockNode(tx, nodeId);
    if (found === null) return null;
    // Also of one that is disabled already: it may have been given something at that moment.
    const lostSubmissionIds = await loseAssignments(store, tx, nodeId);
    if (found.disabledAt !== null) return { node: found, lostSubmissionIds };
    const [row] = await tx.$queryRaw<{ disabledAt: Date }[]>`
      UPDATE nodes SET disabled_at = svc_now(), changed_at = svc_now() WHERE id = ${nodeId}::uuid
      RETURNING disabled_at AS "disabledAt"`;
    const disabledAt = row?.disabledAt ?? null;
    await audit(tx, by, 'node.disable', found, { disabledAt, lost: lostSubmissionIds.length });
    return { node: { ...found, disabledAt }, lostSubmissionIds };
  });
}

export type NodeRotation =
  | { kind: 'rotated'; node: NodeRecord }
  /** A third secret would cut off a node that still signs with the oldest. */
  | { kind: 'two_valid' }
  | { kind: 'unknown_node' };

/**
 * Gives a node a new secret, valid at once; the one before stays valid for `overlapMs`. While two
 * are valid a third is refused, unless `force` drops the oldest, as with a tenant's.
 */
export async function rotateNodeSecret(
  store: Store,
  rotation: { nodeId: string; secret: string; overlapMs: number; force: boolean },
  by: Author,
): Promise<NodeRotation> {
  const { nodeId, secret, overlapMs, force } = rotation;
  return store.db.$transaction(async (tx): Promise<NodeRotation> => {
    const found = await lockNode(tx, nodeId);
    if (found === null) return { kind: 'unknown_node' };
    const dropped = found.previousSecretExpiresAt === null ? 0 : 1;
    if (dropped > 0 && !force) return { kind: 'two_valid' };
    const place = nodeSecretPlace({ id: nodeId, version: found.secretVersion + 1 });
    const sealed = store.sealer.seal(place, secret);
    const [row] = await tx.$queryRaw<{ expiresAt: Date }[]>`
      UPDATE nodes SET secret_sealed = ${sealed}, secret_version = secret_version + 1,
        previous_secret_sealed = secret_sealed, changed_at = svc_now(),
        previous_secret_expires_at = svc_now() + ${Math.round(overlapMs)} * interval '1 millisecond'
      WHERE id = ${nodeId}::uuid RETURNING previous_secret_expires_at AS "expiresAt"`;
    await audit(tx, by, 'node.rotate_secret', found, { overlapMs, dropped });
    const node = {
      ...found,
      secretVersion: found.secretVersion + 1,
      previousSecretExpiresAt: row?.expiresAt ?? null,
    };
    return { kind: 'rotated', node };
  });
}

async function audit(
  tx: Queryable,
  by: Author,
  action: string,
  before: NodeRecord,
  after: object,
): Promise<void> {
  const { draining, disabledAt, secretVersion } = before;
  await insertAudit(tx, by, {
    action,
    subject: { kind: 'node', id: toWireId('nod', before.id) },
    before: { draining, disabledAt, secretVersion },
    after,
  });
}
