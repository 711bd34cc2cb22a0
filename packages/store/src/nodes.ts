import { toWireId } from '@svc/domain';
import { type Author, insertAudit } from './audit.ts';
import { nodeSecretPlace } from './sealed.ts';
import type { Queryable, Store } from './store.ts';

export interface NodeRecord {
  id: string;
  name: string;
  draining: boolean;
  agentVersion: string | null;
  lastSeenAt: Date | null;
  disabledAt: Date | null;
  secretVersion: number;
  /** Until when the secret before the present one is valid too; null: it is not. */
  previousSecretExpiresAt: Date | null;
  createdAt: Date;
}

export async function createNode(
  store: Store,
  { id, name, secret }: { id: string; name: string; secret: string },
  by: Author,
): Promise<void> {
  const sealed = store.sealer.seal(nodeSecretPlace({ id, version: 1 }), secret);
  await store.db.$transaction(async (tx) => {
    await tx.$executeRaw`
      INSERT INTO nodes (id, name, secret_sealed, created_at, changed_at)
      VALUES (${id}::uuid, ${name}, ${sealed}, svc_now(), svc_now())`;
    await insertAudit(tx, by, {
      action: 'node.create',
      subject: { kind: 'node', id: toWireId('nod', id) },
      before: null,
      after: { name },
    });
  });
}

/** Of the nodes that a dispatcher is connected to: so that operators see who is there. */
export async function touchNodes(store: Store, nodeIds: readonly string[]): Promise<void> {
  await store.db.$executeRaw`
    UPDATE nodes SET last_seen_at = svc_now() WHERE id = ANY(${nodeIds}::uuid[])`;
}

/** A page of nodes, newest first, older than `before` where it is given. */
export async function listNodes(
  store: Store,
  page: { before: string | null; limit: number },
): Promise<NodeRecord[]> {
  const rows = await store.db.$queryRaw<NodeRow[]>`
    SELECT id, name, draining, agent_version, last_seen_at, disabled_at, created_at,
      secret_version, previous_secret_expires_at, svc_now() AS now
    FROM nodes
    WHERE id < COALESCE(${page.before}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    ORDER BY id DESC LIMIT ${page.limit}`;
  return rows.map(nodeOfRow);
}

/** Null for an unknown node. */
export async function findNode(store: Store, nodeId: string): Promise<NodeRecord | null> {
  const [row] = await store.db.$queryRaw<NodeRow[]>`
    SELECT id, name, draining, agent_version, last_seen_at, disabled_at, created_at,
      secret_version, previous_secret_expires_at, svc_now() AS now
    FROM nodes WHERE id = ${nodeId}::uuid`;
  return row === undefined ? null : nodeOfRow(row);
}

/** The same, locked for a change. */
export async function lockNode(tx: Queryable, nodeId: string): Promise<NodeRecord | null> {
  const [row] = await tx.$queryRaw<NodeRow[]>`
    SELECT id, name, draining, agent_version, last_seen_at, disabled_at, created_at,
      secret_version, previous_secret_expires_at, svc_now() AS now
    FROM nodes WHERE id = ${nodeId}::uuid FOR UPDATE`;
  return row === undefined ? null : nodeOfRow(row);
}

interface NodeRow {
  id: string;
  name: string;
  draining: boolean;
  agent_version: string | null;
  last_seen_at: Date | null;
  disabled_at: Date | null;
  created_at: Date;
  secret_version: number;
  previous_secret_expires_at: Date | null;
  now: Date;
}

function nodeOfRow(row: NodeRow): NodeRecord {
  const expiresAt = row.previous_secret_expires_at;
  return {
    id: row.id,
    name: row.name,
    draining: row.draining,
    agentVersion: row.agent_version,
    lastSeenAt: row.last_seen_at,
    disabledAt: row.disabled_at,
    secretVersion: row.secret_version,
    previousSecretExpiresAt: expiresAt !== null && expiresAt > row.now ? expiresAt : null,
    createdAt: row.created_at,
  };
}
