import { createSecretKey, type KeyObject } from 'node:crypto';

/**
 * Caches `KeyObject`s. If a key is passed as bytes, `node:crypto` reads them again in each call.
 * This takes longer than a short HMAC.
 */

/**
 * The most `KeyObject`s in a cache. A gateway caches at most 10,000 entries of tenants'
 * credentials, each with at most two secrets (services/gateway/src/access/keys.ts).
 */
const keysMax = 20_000;

/**
 * Returns a function that gives the key of a secret and caches the key. Beyond `keysMax` keys, the
 * one that was added first is removed.
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
