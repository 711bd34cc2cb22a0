import { nodeSecretPlace, unsealText } from '../sealing/sealed.ts';
import type { Store } from '../connection/store.ts';

interface NodeSecret {
  /** Counts a node's secrets: what a link was opened with. */
  readonly version: number;
  readonly secret: string;
}

/** What authenticates a node's link (CONTRACT 7). */
export interface NodeCredentials {
  readonly nodeId: string;
  readonly disabled: boolean;
  readonly draining: boolean;
  readonly slotsMax: number;
  /** Those valid now: the present one first, then the one before while a rotation overlaps. */
  readonly secrets: readonly NodeSecret[];
}

/** Null for an unknown node. */
export async function findNodeCredentials(
  store: Store,
  nodeId: string,
): Promise<NodeCredentials | null> {
  const [row] = await store.db.$queryRaw<
    {
      disabled: boolean;
      draining: boolean;
      slots_max: number;
      secret_version: number;
      secret_sealed: Uint8Array;
      previous_secret_sealed: Uint8Array | null;
    }[]
  >`
    SELECT disabled_at IS NOT NULL AS disabled, draining, slots_max, secret_version, secret_sealed,
      CASE WHEN previous_secret_expires_at > svc_now() THEN previous_secret_sealed END AS previous_secret_sealed
    FROM nodes WHERE id = ${nodeId}::uuid`;
  if (row === undefined) return null;
  const { secret_version: version, previous_secret_sealed: previous } = row;
  const unseal = (of: number, sealed: Uint8Array) => ({
    version: of,
    secret: unsealText(store.sealer, nodeSecretPlace({ id: nodeId, version: of }), sealed),
  });
  const secrets = [unseal(version, row.secret_sealed)];
  if (previous !== null) secrets.push(unseal(version - 1, previous));
  const { disabled, draining, slots_max: slotsMax } = row;
  return { nodeId, disabled, draining, slotsMax, secrets };
}

/** What operators have changed of a node, as far as its link has to follow. */
export interface NodeStanding {
  readonly nodeId: string;
  readonly disabled: boolean;
  readonly draining: boolean;
  readonly slotsMax: number;
  /** By the database's clock; null: it is not in quarantine. */
  readonly quarantinedUntil: Date | null;
  readonly secretVersion: number;
  /** Until when the secret before is valid too, by the database's clock. */
  readonly previousSecretExpiresAt: Date | null;
}

/** A change may be committed this much later than the moment that it carries. */
const commitDelayMsMax = 30_000;
const changesMax = 10_000;

/** The nodes that were changed since then, and some time before, and the database's clock. */
export async function findChangedNodes(
  store: Store,
  since: Date | null,
): Promise<{ now: Date; changed: NodeStanding[] }> {
  const rows = await store.db.$queryRaw<(StandingRow & { now: Date })[]>`
    SELECT svc_now() AS now, id, disabled_at IS NOT NULL AS disabled, draining, secret_version,
      previous_secret_expires_at, slots_max,
      CASE WHEN quarantined_until > svc_now() THEN quarantined_until END AS quarantined_until
    FROM (SELECT 1) one LEFT JOIN nodes
      ON changed_at > COALESCE(${since}::timestamptz, svc_now()) - ${commitDelayMsMax} * interval '1 millisecond'
    LIMIT ${changesMax}`;
  const changed = rows.flatMap((row) => standingOf(row));
  return { now: rows[0]?.now ?? new Date(0), changed };
}

/** Null for an unknown node. */
export async function findNodeStanding(store: Store, nodeId: string): Promise<NodeStanding | null> {
  const [row] = await store.db.$queryRaw<StandingRow[]>`
    SELECT id, disabled_at IS NOT NULL AS disabled, draining, secret_version,
      previous_secret_expires_at, slots_max,
      CASE WHEN quarantined_until > svc_now() THEN quarantined_until END AS quarantined_until
    FROM nodes WHERE id = ${nodeId}::uuid`;
  const [standing] = row === undefined ? [] : standingOf(row);
  return standing ?? null;
}

interface StandingRow {
  /** Null in the one row that tells the time where nothing was changed. */
  id: string | null;
  disabled: boolean;
  draining: boolean;
  slots_max: number;
  quarantined_until: Date | null;
  secret_version: number;
  previous_secret_expires_at: Date | null;
}

function standingOf(row: StandingRow): NodeStanding[] {
  if (row.id === null) return [];
  return [
    {
      nodeId: row.id,
      disabled: row.disabled,
      draining: row.draining,
      slotsMax: row.slots_max,
      quarantinedUntil: row.quarantined_until,
      secretVersion: row.secret_version,
      previousSecretExpiresAt: row.previous_secret_expires_at,
    },
  ];
}
