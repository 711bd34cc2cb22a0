import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto';
import { keyOfBytes } from './key-objects.ts';

/**
 * Seals secrets and personal data at rest with AES-256-GCM under `SVC_MASTER_KEY`. A value is bound
 * to its place. It does not open in another row, for another tenant or as another kind of secret.
 *
 * Sealed bytes: version, length of the key id, key id, 12-byte nonce, ciphertext, 16-byte tag. The
 * version says what the value is bound to. Version 2 is bound to the complete place, version 1 only
 * to table, column and row.
 */

const version = 2;
const previousVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headerBytes = 2;
const keysMax = 8;
const keyIdPattern = /^[A-Za-z0-9._-]{1,64}$/;
const keyPattern = /^[A-Za-z0-9+/]{43}=$/;

/**
 * Thrown if sealed bytes do not open or a keyring is invalid. It never contains a key or contents.
 */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** Keys by their ids. `sealingKeyId` names the key that seals. All keys open. */
export interface Keyring {
  readonly sealingKeyId: string;
  readonly keys: ReadonlyMap<string, Uint8Array>;
}

/**
 * Reads `SVC_MASTER_KEY`: `<keyId>:<base64 of 32 bytes>`, several separated by commas; the first
 * one seals. Throws SealError if it is malformed or an id occurs twice.
 */
export function openKeyring(text: string): Keyring {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.length > keysMax) throw new SealError(`A keyring has at most ${keysMax} keys.`);
  const keys = new Map<string, Uint8Array>();
  for (const entry of entries) {
    const separator = entry.indexOf(':');
    const keyId = entry.slice(0, Math.max(separator, 0));
    const encoded = entry.slice(separator + 1);
    if (!keyIdPattern.test(keyId) || !keyPattern.test(encoded)) {
      throw new SealError('A master key is written <keyId>:<base64 of 32 bytes>.');
    }
    if (keys.has(keyId)) throw new SealError(`The master key id ${keyId} occurs twice.`);
    keys.set(keyId, Buffer.from(encoded, 'base64'));
  }
  const [sealingKeyId] = keys.keys();
  if (sealingKeyId === undefined) throw new SealError('A keyring has at least one key.');
  return { sealingKeyId, keys };
}

function requireKey(keyring: Keyring, keyId: string): KeyObject {
  const key = keyring.keys.get(keyId);
  if (key === undefined)
    throw new SealError(
      'The value is sealed under a master key that SVC_MASTER_KEY does not have.',
    );
  return keyOfBytes(key);
}

/**
 * Random bytes are drawn for this many nonces at once. Drawing them for each nonce takes longer
 * than sealing.
 */
const noncesDrawn = 256;
const drawn = Buffer.alloc(noncesDrawn * nonceBytes);
let nextNonceAt = drawn.byteLength;

/** New random bytes, used only once. They are valid until the next call. */
function nextNonce(): Uint8Array {
  if (nextNonceAt === drawn.byteLength) {
    randomFillSync(drawn);
    nextNonceAt = 0;
  }
  const from = nextNonceAt;
  nextNonceAt += nonceBytes;
  return drawn.subarray(from, nextNonceAt);
}

/** Version, length of the key id, key id. */
function sealedPrefix(keyId: string, sealedVersion: number): Uint8Array<ArrayBuffer> {
  return Buffer.from([sealedVersion, Buffer.byteLength(keyId), ...Buffer.from(keyId)]);
}

/**
 * The place that a sealed value is bound to. `tenantId` and `kind` are null if the row has none.
 */
export interface Place {
  readonly table: string;
  readonly column: string;
  /** The UUID of the tenant that the row belongs to. */
  readonly tenantId: string | null;
  /** The kind of the value in its row, such as `hmac` or `webhook` of a tenant's secret. */
  readonly kind: string | null;
  /** The row's key. The parts of a composite key are joined by colons. */
  readonly row: string;
}

function bindingOf(place: Place, sealedVersion: number): Buffer {
  const { table, column, tenantId, kind, row } = place;
  return Buffer.from(
    sealedVersion === previousVersion
      ? `${table}.${column}:${row}`
      : JSON.stringify([table, column, tenantId, kind, row]),
  );
}

/**
 * Seals a value for one place. `sealedVersion` is 1 only while services of the previous version
 * must read it.
 */
export function seal(
  keyring: Keyring,
  place: Place,
  plaintext: Uint8Array | string,
  sealedVersion = version,
): Uint8Array<ArrayBuffer> {
  const nonce = nextNonce();
  const cipher = createCipheriv('aes-256-gcm', requireKey(keyring, keyring.sealingKeyId), nonce);
  cipher.setAAD(bindingOf(place, sealedVersion));
  const bytes = typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext;
  return Buffer.concat([
    sealedPrefix(keyring.sealingKeyId, sealedVersion),
    nonce,
    cipher.update(bytes),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

interface SealedParts {
  readonly version: number;
  readonly keyId: string;
  readonly nonce: Uint8Array;
  readonly ciphertext: Uint8Array;
  readonly tag: Uint8Array;
}

function splitSealed(sealed: Uint8Array): SealedParts {
  const [sealedVersion, keyIdBytes = 0] = sealed;
  if (sealedVersion !== version && sealedVersion !== previousVersion) {
    throw new SealError('The value is sealed in an unknown version.');
  }
  const nonceAt = headerBytes + keyIdBytes;
  const ciphertextAt = nonceAt + nonceBytes;
  const tagAt = sealed.byteLength - tagBytes;
  if (tagAt < ciphertextAt) throw new SealError('The sealed value is truncated.');
  return {
    version: sealedVersion,
    keyId: Buffer.from(sealed.subarray(headerBytes, nonceAt)).toString(),
    nonce: sealed.subarray(nonceAt, ciphertextAt),
    ciphertext: sealed.subarray(ciphertextAt, tagAt),
    tag: sealed.subarray(tagAt),
  };
}

/**
 * Opens a value that `seal` made for the same place. Throws SealError for another place, for a key
 * that the keyring lacks, and for altered bytes. Throws for version 1 unless `previous` is allowed.
 */
export function unseal(
  keyring: Keyring,
  place: Place,
  sealed: Uint8Array,
  { previous = false }: { readonly previous?: boolean } = {},
): Uint8Array<ArrayBuffer> {
  const parts = splitSealed(sealed);
  if (parts.version === previousVersion && !previous) {
    throw new SealError(
      'The value is sealed without its tenant and kind, but this database accepts only complete places.',
    );
  }
  const key = requireKey(keyring, parts.keyId);
  const decipher = createDecipheriv('aes-256-gcm', key, parts.nonce, { authTagLength: tagBytes });
  decipher.setAAD(bindingOf(place, parts.version));
  decipher.setAuthTag(parts.tag);
  try {
    return Buffer.concat([decipher.update(parts.ciphertext), decipher.final()]);
  } catch {
    throw new SealError(
      'The sealed value does not open: its key or place differs, or it was altered.',
    );
  }
}

/**
 * The phases in which a database is sealed again for complete places. `previous`: everything is
 * sealed in version 1, because services of the previous version read nothing else. `resealing`: new
 * values are sealed in version 2, and both versions open. `bound`: only version 2 opens.
 */
export type SealingPhase = 'previous' | 'resealing' | 'bound';

/** Seals and opens values under one keyring. The store gets this instead of keys. */
export interface Sealer {
  /** The first bytes of every value that is sealed in version 2 under the current key. */
  readonly prefix: Uint8Array<ArrayBuffer>;
  /** The store sets the phase from the state of the database. */
  phase: SealingPhase;
  seal(place: Place, plaintext: Uint8Array | string): Uint8Array<ArrayBuffer>;
  unseal(place: Place, sealed: Uint8Array): Uint8Array<ArrayBuffer>;
}

export function createSealer(keyring: Keyring): Sealer {
  const sealer: Sealer = {
    prefix: sealedPrefix(keyring.sealingKeyId, version),
    phase: 'bound',
    seal: (place, plaintext) =>
      seal(keyring, place, plaintext, sealer.phase === 'previous' ? previousVersion : version),
    unseal: (place, sealed) =>
      unseal(keyring, place, sealed, { previous: sealer.phase !== 'bound' }),
  };
  return sealer;
}
