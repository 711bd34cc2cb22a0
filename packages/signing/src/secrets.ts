import { createHmac } from 'node:crypto';
import { keyOfBytes } from './key-objects.ts';

/** What a secret is for: tenants' requests by environment, webhooks, nodes, operators. */
export type SecretPrefix = 'hsk_test' | 'hsk_live' | 'whsec' | 'nsk' | 'osk';

const secretBytes = 32;

/**
 * A fresh secret of 256 bits. `randomBytes` is node:crypto's, or a test's. The part behind `whsec_`
 * is plain base64, as Standard Webhooks wants it; of the others the whole string is the key.
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
 * The hash by which a repeated creation is told from a different one: keyed, because the personal
 * data in it has little entropy (docs/ARCHITECTURE.md, Data). `canonicalText` is equal for equal bodies.
 */
export function requestHash(key: Uint8Array, canonicalText: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHmac('sha256', keyOfBytes(key)).update(canonicalText).digest());
}
