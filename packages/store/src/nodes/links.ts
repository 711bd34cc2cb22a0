import type { Store } from '../connection/store.ts';

/**
 * Raises the node's epoch and returns it for the new link, which becomes the node's current link
 * (CONTRACT 7). Call this after all other checks of the WebSocket upgrade.
 */
export async function takeLinkEpoch(
  store: Store,
  { nodeId, secretVersion }: { readonly nodeId: string; readonly secretVersion: number },
): Promise<number | null> {
  // The node may have been disabled, or the secret replaced, since the upgrade was authenticated.
  const [row] = await store.query<{ link_epoch: bigint }>(
    `UPDATE nodes SET link_epoch = link_epoch + 1
     WHERE id = $1::uuid AND disabled_at IS NULL AND (secret_version = $2
       OR (secret_version = $2 + 1 AND previous_secret_expires_at > svc_now()))
     RETURNING link_epoch`,
    [nodeId, secretVersion],
  );
  return row === undefined ? null : Number(row.link_epoch);
}

export interface HelloState {
  /**
   * The end of the node's quarantine, by the database's clock. Null if the node is not in
   * quarantine.
   */
  readonly quarantinedUntil: Date | null;
}

/**
 * Records the hello of a link. If the link is not the node's current one, records nothing and
 * returns null.
 */
export async function recordHello(
  store: Store,
  hello: { nodeId: string; agentVersion: string; linkEpoch: number },
): Promise<HelloState | null> {
  const { nodeId, agentVersion, linkEpoch } = hello;
  const [state] = await store.query<HelloState>(
    `UPDATE nodes SET last_seen_at = svc_now(), agent_version = $2, greeted_epoch = $3::bigint
     WHERE id = $1::uuid AND link_epoch = $3::bigint
     RETURNING CASE WHEN quarantined_until > svc_now() THEN quarantined_until END AS "quarantinedUntil"`,
    [nodeId, agentVersion, linkEpoch],
  );
  return state ?? null;
}
