import { type QuarantineReason, slotsMaxDefault, toWireId } from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import { nodeSecretPlace } from '../sealing/sealed.ts';
import type { Query, Store } from '../connection/store.ts';

export interface NodeRecord {
  id: string;
  name: string;
  /** The most slots it may have, even if it reports more. */
  slotsMax: number;
  draining: boolean;
  agentVersion: string | null;
  lastSeenAt: Date | null;
  disabledAt: Date | null;
  /**
   * The node gets no offers until then, because it does not finish its jobs. Null: no quarantine.
   */
  quarantinedUntil: Date | null;
  quarantineReason: QuarantineReason | null;
  secretVersion: number;
  /** The end of the previous secret's validity. Null if only the current secret is valid. */
  previousSecretExpiresAt: Date | null;
  createdAt: Date;
}

export interface NewNode {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
  /** 1 to 200. */
  readonly slotsMax?: number;
}

export async function createNode(store: Store, node: NewNode, by: Author): Promise<void> {
  const { id, name, secret, slotsMax = slotsMaxDefault } = node;
  const sealed = store.sealer.seal(nodeSecretPlace({ id, version: 1 }), secret);
  await store.transaction(async (query) => {
    await query(
      `INSERT INTO nodes (id, name, secret_sealed, slots_max, created_at, changed_at)
       VALUES ($1::uuid, $2, $3, $4, svc_now(), svc_now())`,
      [id, name, sealed, slotsMax],
    );
    await appendAudit(query, by, {
      action: 'node.create',
      subject: { kind: 'node', id: toWireId('nod', id) },
      before: null,
      after: { name, slotsMax },
    });
  });
}

/** Updates `last_seen_at` of the nodes that a dispatcher is connected to, for operators. */
export async function touchNodes(store: Store, nodeIds: readonly string[]): Promise<void> {
  await store.db.$executeRaw`
    UPDATE nodes SET last_seen_at = svc_now() WHERE id = ANY(${nodeIds}::uuid[])`;
}

const columns = `id, name, slots_max, draining, agent_version, last_seen_at, disabled_at, created_at,
  secret_version, previous_secret_expires_at, quarantined_until, quarantine_reason, svc_now() AS now`;

/** A page of nodes, newest first, older than `before` if it is given. */
export async function listNodes(
  store: Store,
  page: { before: string | null; limit: number },
): Promise<NodeRecord[]> {
  const rows = await store.query<NodeRow>(
    `SELECT ${columns} FROM nodes
     WHERE id < COALESCE($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     ORDER BY id DESC LIMIT $2`,
    [page.before, page.limit],
  );
  return rows.map(nodeOfRow);
}

/** Null for an unknown node. */
export async function findNode(store: Store, nodeId: string): Promise<NodeRecord | null> {
  const [row] = await store.query<NodeRow>(`SELECT ${columns} FROM nodes WHERE id = $1::uuid`, [
    nodeId,
  ]);
  return row === undefined ? null : nodeOfRow(row);
}

/** Same as `findNode`, with a lock for a change. */
export async function lockNode(query: Query, nodeId: string): Promise<NodeRecord | null> {
  const [row] = await query<NodeRow>(
    `SELECT ${columns} FROM nodes WHERE id = $1::uuid FOR NO KEY UPDATE`,
    [nodeId],
  );
  return row === undefined ? null : nodeOfRow(row);
}

interface NodeRow {
  id: string;
  name: string;
  slots_max: number;
  draining: boolean;
  agent_version: string | null;
  last_seen_at: Date | null;
  disabled_at: Date | null;
  created_at: Date;
  secret_version: number;
  previous_secret_expires_at: Date | null;
  quarantined_until: Date | null;
  quarantine_reason: QuarantineReason | null;
  now: Date;
}

function nodeOfRow(row: NodeRow): NodeRecord {
  const { previous_secret_expires_at: expiresAt, quarantined_until: until, now } = row;
  const quarantinedUntil = until !== null && until > now ? until : null;
  return {
    id: row.id,
    name: row.name,
    slotsMax: row.slots_max,
    draining: row.draining,
    agentVersion: row.agent_version,
    lastSeenAt: row.last_seen_at,
    disabledAt: row.disabled_at,
    quarantinedUntil,
    quarantineReason: quarantinedUntil === null ? null : row.quarantine_reason,
    secretVersion: row.secret_version,
    previousSecretExpiresAt: expiresAt !== null && expiresAt > now ? expiresAt : null,
    createdAt: row.created_at,
  };
}
