import { createHmac, timingSafeEqual } from 'node:crypto';
import { keyOfBytes } from './key-objects.ts';

/**
 * The first part of a secret, which shows what the secret signs. `hsk_…`: requests of tenants
 * (CONTRACT 1). `whsec`: webhooks. `nsk`: requests of nodes. `osk`: requests of operators.
 */
export type SecretPrefix = 'hsk_test' | 'hsk_live' | 'whsec' | 'nsk' | 'osk';

const secretBytes = 32;

/**
 * Makes a secret of 256 bits. The part after `whsec_` is plain base64, as Standard Webhooks
 * requires. Throws if `randomBytes` does not return 32 bytes.
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
 * The hash shows if a repeated creation has the same body. The hash needs a key, because the body
 * could be guessed from a plain hash (docs/ARCHITECTURE.md, Data).
 */
export function requestHash(key: Uint8Array, canonicalText: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHmac('sha256', keyOfBytes(key)).update(canonicalText).digest());
}

/**
 * Proves that a dispatcher has committed `dispatched`. Somebody who can write to Redis lacks the
 * key. The proof stays true, so a repeated one does no harm.
 */
export function dispatchProof(key: Uint8Array, submissionId: string): string {
  const mac = createHmac('sha256', keyOfBytes(key)).update(`dispatched ${submissionId}`);
  return mac.digest('base64url');
}

export function isDispatchProof(key: Uint8Array, submissionId: string, proof: string): boolean {
  const expected = Buffer.from(dispatchProof(key, submissionId));
  const given = Buffer.from(proof);
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
}
