import { type QuarantineReason, quarantineReasons, slotsMaxDefault, toWireId } from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import type { Prisma } from '../generated/client.ts';
import { databaseNow } from '../schema/environment.ts';
import { nodeSecretPlace } from '../sealing/sealed.ts';

export interface NodeRecord {
  id: string;
  name: string;
  /** The service uses at most this many slots of the node, even if the node reports more. */
  slotsMax: number;
  draining: boolean;
  agentVersion: string | null;
  lastSeenAt: Date | null;
  disabledAt: Date | null;
  /** The node gets no offers until this time. Null: no quarantine. */
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
  /** 1 to 200. Default: `slotsMaxDefault`. */
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

export async function touchNodes(store: Store, nodeIds: readonly string[]): Promise<void> {
  await store.query('UPDATE nodes SET last_seen_at = svc_now() WHERE id = ANY($1::uuid[])', [
    nodeIds,
  ]);
}

const nodeFields = {
  id: true,
  name: true,
  slotsMax: true,
  draining: true,
  agentVersion: true,
  lastSeenAt: true,
  disabledAt: true,
  quarantinedUntil: true,
  quarantineReason: true,
  secretVersion: true,
  previousSecretExpiresAt: true,
  createdAt: true,
} satisfies Prisma.NodeSelect;

type NodeRow = Prisma.NodeGetPayload<{ select: typeof nodeFields }>;

/**
 * A page of nodes, newest first. All are older than the node `before`. With null, the page begins
 * at the newest node.
 */
export async function listNodes(
  store: Store,
  { before, limit }: { before: string | null; limit: number },
): Promise<NodeRecord[]> {
  const rows = await store.db.node.findMany({
    where: before === null ? {} : { id: { lt: before } },
    orderBy: { id: 'desc' },
    take: limit,
    select: nodeFields,
  });
  const now = await databaseNow(store);
  return rows.map((row) => nodeOf(row, now));
}

/** Null for an unknown node. */
export async function findNode(store: Store, nodeId: string): Promise<NodeRecord | null> {
  const row = await store.db.node.findUnique({ where: { id: nodeId }, select: nodeFields });
  return row === null ? null : nodeOf(row, await databaseNow(store));
}

/** Locks and returns a node for a change. Null for an unknown node. */
export async function lockNode(query: Query, nodeId: string): Promise<NodeRecord | null> {
  const [locked] = await query<NodeRow & { now: Date }>(
    `SELECT id, name, slots_max AS "slotsMax", draining, agent_version AS "agentVersion",
       last_seen_at AS "lastSeenAt", disabled_at AS "disabledAt",
       quarantined_until AS "quarantinedUntil", quarantine_reason AS "quarantineReason",
       secret_version AS "secretVersion", previous_secret_expires_at AS "previousSecretExpiresAt",
       created_at AS "createdAt", svc_now() AS now
     FROM nodes WHERE id = $1::uuid FOR NO KEY UPDATE`,
    [nodeId],
  );
  if (locked === undefined) return null;
  const { now, ...row } = locked;
  return nodeOf(row, now);
}

/**
 * The record of a node at `now`, the database's time. A quarantine or a previous secret that has
 * ended by then is left out.
 */
function nodeOf(row: NodeRow, now: Date): NodeRecord {
  const { quarantinedUntil, quarantineReason: reason, previousSecretExpiresAt } = row;
  const isQuarantined = quarantinedUntil !== null && quarantinedUntil > now;
  const isOverlapping = previousSecretExpiresAt !== null && previousSecretExpiresAt > now;
  return {
    ...row,
    quarantinedUntil: isQuarantined ? quarantinedUntil : null,
    quarantineReason: isQuarantined && isReason(reason) ? reason : null,
    previousSecretExpiresAt: isOverlapping ? previousSecretExpiresAt : null,
  };
}

function isReason(text: string | null): text is QuarantineReason {
  return text !== null && Object.hasOwn(quarantineReasons, text);
}
