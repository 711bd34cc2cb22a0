import { createHmac } from 'node:crypto';
import { keyOfBytes } from './key-objects.ts';

/**
 * The first part of a secret. It shows what the secret signs. `hsk_test`: requests of tenants in
 * the sandbox. `hsk_live`: requests of tenants in production. `whsec`: webhooks. `nsk`: requests of
 * nodes. `osk`: requests of operators.
 */
export type SecretPrefix = 'hsk_test' | 'hsk_live' | 'whsec' | 'nsk' | 'osk';

const secretBytes = 32;

/**
 * Makes a secret of 256 bits. For the prefix `whsec`, the key is the part after `whsec_`, in plain
 * base64, as Standard Webhooks requires. For all other prefixes the key is the whole string, with
 * the prefix. `randomBytes` is the function of `node:crypto`, or one of a test. Throws if
 * `randomBytes` does not return 32 bytes.
 */
export function newSecret(
  prefix: SecretPrefix,
  randomBytes: (bytes: number) => Uint8Array,
): string {
  const bytes = Buffer.from(randomBytes(secretBytes));
  if (bytes.byteLength !== secretBytes) throw new Error('A secret needs 32 random bytes.');
  return `${prefix}_${bytes.toString(prefix === 'whsec' ? 'base64' : 'base64url')}`;
}

/**
 * The keyed hash of the body of a creation. It shows whether a repeated creation with the same
 * idempotency key has the same body. `canonicalText` is equal for equal bodies. If the hash had no
 * key, somebody who reads it could guess the personal data in the body and check each guess
 * (docs/ARCHITECTURE.md, Data).
 */
export function requestHash(key: Uint8Array, canonicalText: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHmac('sha256', keyOfBytes(key)).update(canonicalText).digest());
}
