import { createSecretKey, type KeyObject } from 'node:crypto';

/**
 * Keys as `KeyObject`s of `node:crypto`. If `node:crypto` gets text or bytes instead, it creates a
 * key for each call. That takes longer than a short HMAC.
 */

/** The most keys in a cache. A gateway caches the secrets of fewer tenants. */
const keysMax = 20_000;

/**
 * Caches keys by the secret that they are derived from. If there are more than `keysMax`, the key
 * that was added first is removed.
 */
export function createKeyCache(bytesOf: (secret: string) => Uint8Array) {
  const keys = new Map<string, KeyObject>();
  return (secret: string): KeyObject => {
    const found = keys.get(secret);
    if (found !== undefined) return found;
    const key = createSecretKey(bytesOf(secret));
    keys.set(secret, key);
    const [oldest] = keys.keys();
    if (keys.size > keysMax && oldest !== undefined) keys.delete(oldest);
    return key;
  };
}

const ofBytes = new WeakMap<Uint8Array, KeyObject>();

/**
 * Returns the key of these bytes, and caches it for this `bytes` object. The caller must not change
 * the bytes.
 */
export function keyOfBytes(bytes: Uint8Array): KeyObject {
  const found = ofBytes.get(bytes);
  if (found !== undefined) return found;
  const key = createSecretKey(bytes);
  ofBytes.set(bytes, key);
  return key;
}
