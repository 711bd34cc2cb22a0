import { createSecretKey, type KeyObject } from 'node:crypto';

/**
 * Keys as `node:crypto` works with them. Given a text or bytes it makes one for each call, which
 * took longer than a short HMAC itself.
 */

/** More than the tenants whose secrets a gateway keeps at hand. */
const keysMax = 20_000;

/** Keys by the secret that they are derived from; a bounded number, the oldest goes first. */
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

/** The key of these bytes, which are a key of the process's own and never change. */
export function keyOfBytes(bytes: Uint8Array): KeyObject {
  const found = ofBytes.get(bytes);
  if (found !== undefined) return found;
  const key = createSecretKey(bytes);
  ofBytes.set(bytes, key);
  return key;
}
