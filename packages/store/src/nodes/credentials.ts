import type { Store } from '../connection/store.ts';
import { nodeSecretPlace, unsealText } from '../sealing/sealed.ts';

interface NodeSecret {
  /**
   * Each rotation of the node's secret raises the version by 1. A link remembers the version of the
   * secret that it was opened with.
   */
  readonly version: number;
  readonly secret: string;
  /** The end of the secret's validity, by the database's clock. Null for the current secret. */
  readonly expiresAt: Date | null;
}

/** The secrets that authenticate a node's link (CONTRACT 7), and settings of the node. */
export interface NodeCredentials {
  readonly nodeId: string;
  readonly disabled: boolean;
  readonly draining: boolean;
  readonly slotsMax: number;
  /** The valid secrets: the current one first, then the previous one until it expires. */
  readonly secrets: readonly NodeSecret[];
}

/** Null for an unknown node. */
export async function findNodeCredentials(
  store: Store,
  nodeId: string,
): Promise<NodeCredentials | null> {
  const [row] = await store.query<{
    disabled: boolean;
    draining: boolean;
    slots_max: number;
    secret_version: number;
    secret_sealed: Uint8Array;
    previous_secret_sealed: Uint8Array | null;
    previous_secret_expires_at: Date | null;
  }>(
    `SELECT disabled_at IS NOT NULL AS disabled, draining, slots_max, secret_version, secret_sealed,
       previous_secret_expires_at,
       CASE WHEN previous_secret_expires_at > svc_now() THEN previous_secret_sealed END
         AS previous_secret_sealed
     FROM nodes WHERE id = $1::uuid`,
    [nodeId],
  );
  if (row === undefined) return null;
  const { secret_version: version, previous_secret_sealed: previous } = row;
  const unseal = (of: number, sealed: Uint8Array) =>
    unsealText(store.sealer, nodeSecretPlace({ id: nodeId, version: of }), sealed);
  const secrets: NodeSecret[] = [
    { version, secret: unseal(version, row.secret_sealed), expiresAt: null },
  ];
  if (previous !== null) {
    const expiresAt = row.previous_secret_expires_at;
    secrets.push({ version: version - 1, secret: unseal(version - 1, previous), expiresAt });
  }
  const { disabled, draining, slots_max: slotsMax } = row;
  return { nodeId, disabled, draining, slotsMax, secrets };
}

/** The settings of a node that a dispatcher applies to the node's link. */
export interface NodeSettings {
  readonly nodeId: string;
  readonly disabled: boolean;
  readonly draining: boolean;
  readonly slotsMax: number;
  /**
   * The end of the node's quarantine, by the database's clock. Null if the node is not in
   * quarantine.
   */
  readonly quarantinedUntil: Date | null;
  readonly secretVersion: number;
  /**
   * The end of the previous secret's validity, by the database's clock. It may have passed. Null
   * before the first rotation.
   */
  readonly previousSecretExpiresAt: Date | null;
}

/**
 * A change sets `changed_at` before it commits, and is visible only after the commit. The commit is
 * expected at most this much later than `changed_at`.
 */
const commitDelayMsMax = 30_000;
const changesPerQuery = 10_000;

/**
 * Returns the database's time as `now`, and the nodes whose `changed_at` is later than `since`
 * minus `commitDelayMsMax`. If `since` is null, `now` is used instead.
 */
export async function findChangedNodes(
  store: Store,
  since: Date | null,
): Promise<{ now: Date; changed: NodeSettings[] }> {
  const { now, changed } = await findChangesPage(store, since, null);
  const pages = [changed];
  for (let page = changed; page.length === changesPerQuery; pages.push(page)) {
    const after = page.at(-1)?.nodeId ?? null;
    page = (await findChangesPage(store, since ?? now, after)).changed;
  }
  return { now, changed: pages.flat() };
}

async function findChangesPage(store: Store, since: Date | null, after: string | null) {
  const rows = await store.query<NodeSettingsRow & { now: Date }>(
    `SELECT svc_now() AS now, ${settingsColumns}
     FROM (SELECT 1) one LEFT JOIN nodes
       ON changed_at > COALESCE($1::timestamptz, svc_now()) - $2 * interval '1 millisecond'
         AND id > COALESCE($3::uuid, '00000000-0000-0000-0000-000000000000')
     ORDER BY id LIMIT $4`,
    [since, commitDelayMsMax, after, changesPerQuery],
  );
  return { now: rows[0]?.now ?? new Date(0), changed: rows.flatMap((row) => settingsOf(row)) };
}

/** Null for an unknown node. */
export async function findNodeSettings(store: Store, nodeId: string): Promise<NodeSettings | null> {
  const [row] = await store.query<NodeSettingsRow>(
    `SELECT ${settingsColumns} FROM nodes WHERE id = $1::uuid`,
    [nodeId],
  );
  const [settings] = row === undefined ? [] : settingsOf(row);
  return settings ?? null;
}

const settingsColumns = `id, disabled_at IS NOT NULL AS disabled, draining, secret_version,
  previous_secret_expires_at, slots_max,
  CASE WHEN quarantined_until > svc_now() THEN quarantined_until END AS quarantined_until`;

interface NodeSettingsRow {
  /**
   * Null only if the query of `findChangesPage` finds no node. The query then returns one row
   * without a node, because the caller needs its `now`.
   */
  id: string | null;
  disabled: boolean;
  draining: boolean;
  slots_max: number;
  quarantined_until: Date | null;
  secret_version: number;
  previous_secret_expires_at: Date | null;
}

function settingsOf(row: NodeSettingsRow): NodeSettings[] {
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
