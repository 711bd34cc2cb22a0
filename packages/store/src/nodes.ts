import { toWireId } from '@svc/domain';
import { type Author, insertAudit } from './audit.ts';
import { unsealText } from './sealed.ts';
import type { Store } from './store.ts';

export interface NodeCredentials {
  nodeId: string;
  disabled: boolean;
  draining: boolean;
  secret: string;
}

export interface NodeRecord {
  id: string;
  name: string;
  draining: boolean;
  agentVersion: string | null;
  lastSeenAt: Date | null;
  disabledAt: Date | null;
  createdAt: Date;
}

const secretBinding = (id: string) => `nodes.secret_sealed:${id}`;

export async function createNode(
  store: Store,
  { id, name, secret }: { id: string; name: string; secret: string },
  by: Author,
): Promise<void> {
  const sealed = store.sealer.seal(secretBinding(id), secret);
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

/** Null for an unknown node. */
export async function findNodeCredentials(
  store: Store,
  nodeId: string,
): Promise<NodeCredentials | null> {
  const [row] = await store.db.$queryRaw<
    { disabled: boolean; draining: boolean; secret_sealed: Uint8Array }[]
  >`
    SELECT disabled_at IS NOT NULL AS disabled, draining, secret_sealed
    FROM nodes WHERE id = ${nodeId}::uuid`;
  if (row === undefined) return null;
  return {
    nodeId,
    disabled: row.disabled,
    draining: row.draining,
    secret: unsealText(store.sealer, secretBinding(nodeId), row.secret_sealed),
  };
}

/** Notes that a node said hello. */
export async function touchNode(
  store: Store,
  node: { nodeId: string; agentVersion: string },
): Promise<void> {
  await store.db.$executeRaw`
    UPDATE nodes SET last_seen_at = svc_now(), agent_version = ${node.agentVersion}
    WHERE id = ${node.nodeId}::uuid`;
}

/** A page of nodes, newest first, older than `before` where it is given. */
export async function listNodes(
  store: Store,
  page: { before: string | null; limit: number },
): Promise<NodeRecord[]> {
  const rows = await store.db.$queryRaw<
    {
      id: string;
      name: string;
      draining: boolean;
      agent_version: string | null;
      last_seen_at: Date | null;
      disabled_at: Date | null;
      created_at: Date;
    }[]
  >`
    SELECT id, name, draining, agent_version, last_seen_at, disabled_at, created_at FROM nodes
    WHERE ${page.before}::uuid IS NULL OR id < ${page.before}::uuid
    ORDER BY id DESC LIMIT ${page.limit}`;
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    draining: row.draining,
    agentVersion: row.agent_version,
    lastSeenAt: row.last_seen_at,
    disabledAt: row.disabled_at,
    createdAt: row.created_at,
  }));
}
