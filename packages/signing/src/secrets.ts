import { createHmac } from 'node:crypto';
import { keyOfBytes } from './key-objects.ts';

/**
 * The purpose of a secret. `hsk_test` and `hsk_live`: requests of tenants by environment. `whsec`:
 * webhooks. `nsk`: nodes. `osk`: operators.
 */
export type SecretPrefix = 'hsk_test' | 'hsk_live' | 'whsec' | 'nsk' | 'osk';

const secretBytes = 32;

/**
 * A new secret of 256 bits. `randomBytes` is the function of node:crypto, or one of a test. The
 * part after `whsec_` is plain base64, as Standard Webhooks requires. For all other prefixes the
 * whole string is the key.
 */
export function newSecret(
  prefix: SecretPrefix,
  randomBytes: (bytes: number) => Uint8Array,
): string {
  const bytes = Buffer.from(randomBytes(secretBytes));
  if (bytes.byteLength !== secretBytes) throw new Error('A secret takes 32 random bytes.');
  return `${prefix}_${bytes.toString(prefix === 'whsec' ? 'base64' : 'base64url')}`;
}

/**
 * The keyed hash of the body of a creation. It shows whether a repeated creation with the same
 * idempotency key has the same body. `canonicalText` is equal for equal bodies. A hash without a
 * key would not protect the personal data in the body, which has little entropy
 * (docs/ARCHITECTURE.md, Data).
 */
export function requestHash(key: Uint8Array, canonicalText: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHmac('sha256', keyOfBytes(key)).update(canonicalText).digest());
}
