import type { Store } from '../connection/store.ts';

/**
 * The shortest time for which a signature is remembered. A signature is valid for 10 minutes; the
 * rest is a margin for dispatchers whose clocks differ from the database's.
 */
const keptMs = 3_600_000;
/**
 * The largest number of old signatures that one call deletes. A call adds only one signature, so
 * old ones do not accumulate.
 */
const deletedMax = 4;

/**
 * Accepts a signature that opens a node link (CONTRACT 7). For each signature, returns true for the
 * first call, then false for at least `keptMs`, on every dispatcher.
 */
export async function acceptLinkSignature(
  store: Store,
  /** SHA-256 of the node's id, the secret's version, and the signed timestamp and URL. */
  signatureHash: Uint8Array,
): Promise<boolean> {
  const rows = await store.query(
    `WITH deleted AS (
       DELETE FROM node_link_signatures WHERE signature_hash IN (
         SELECT signature_hash FROM node_link_signatures
         WHERE accepted_at < svc_now() - $2 * interval '1 millisecond'
         ORDER BY accepted_at LIMIT $3 FOR UPDATE SKIP LOCKED))
     INSERT INTO node_link_signatures (signature_hash, accepted_at) VALUES ($1, svc_now())
     ON CONFLICT (signature_hash) DO NOTHING RETURNING 1 AS accepted`,
    [signatureHash, keptMs, deletedMax],
  );
  return rows.length === 1;
}
