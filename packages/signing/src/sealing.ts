import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto';
import { keyOfBytes } from './key-objects.ts';

/**
 * Seals secrets and personal data with AES-256-GCM. Sealed bytes: version, length of the key id,
 * key id, 12-byte nonce, ciphertext, 16-byte tag.
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
 * Thrown if sealed bytes do not open or a keyring is invalid. The message contains no key and no
 * plaintext.
 */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/**
 * The master keys by their ids. New values are sealed under the key `sealingKeyId`. A value opens
 * if it is sealed under any of the keys.
 */
export interface Keyring {
  readonly sealingKeyId: string;
  readonly keys: ReadonlyMap<string, Uint8Array>;
}

/**
 * Reads the keys in `SVC_MASTER_KEY`, of which the first one seals. Throws SealError for a
 * malformed key, a repeated id or too many keys.
 */
export function openKeyring(text: string): Keyring {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.length > keysMax)
    throw new SealError(`SVC_MASTER_KEY has more than ${keysMax} keys.`);
  const keys = new Map<string, Uint8Array>();
  for (const entry of entries) {
    const separator = entry.indexOf(':');
    const keyId = entry.slice(0, Math.max(separator, 0));
    const encoded = entry.slice(separator + 1);
    if (!keyIdPattern.test(keyId) || !keyPattern.test(encoded)) {
      throw new SealError(
        'A key in SVC_MASTER_KEY is malformed. Write each key as <keyId>:<base64 of 32 bytes>.',
      );
    }
    if (keys.has(keyId)) throw new SealError(`SVC_MASTER_KEY contains the key id ${keyId} twice.`);
    keys.set(keyId, Buffer.from(encoded, 'base64'));
  }
  const [sealingKeyId] = keys.keys();
  if (sealingKeyId === undefined) throw new SealError('SVC_MASTER_KEY has no key.');
  return { sealingKeyId, keys };
}

/** The value may be sound: another process may hold its key. */
class UnknownKeyError extends SealError {
  readonly code = 'UNKNOWN_MASTER_KEY';
  readonly keyId: string;
  constructor(keyId: string) {
    super('A sealed value needs a master key that SVC_MASTER_KEY does not have.');
    this.keyId = keyId;
  }
}

function requireKey(keyring: Keyring, keyId: string): KeyObject {
  const key = keyring.keys.get(keyId);
  if (key === undefined) throw new UnknownKeyError(keyId);
  return keyOfBytes(key);
}

/**
 * The number of nonces for which random bytes are drawn at once. Drawing bytes for each nonce
 * separately would make sealing slower.
 */
const noncesDrawn = 256;
const drawn = Buffer.alloc(noncesDrawn * nonceBytes);
let nextNonceAt = drawn.byteLength;

/**
 * Returns the random bytes of a new nonce. Use them before the next call, because that call may
 * overwrite them.
 */
function nextNonce(): Uint8Array {
  if (nextNonceAt === drawn.byteLength) {
    randomFillSync(drawn);
    nextNonceAt = 0;
  }
  const from = nextNonceAt;
  nextNonceAt += nonceBytes;
  return drawn.subarray(from, nextNonceAt);
}

function sealedPrefix(keyId: string, sealedVersion: number): Uint8Array<ArrayBuffer> {
  return Buffer.from([sealedVersion, Buffer.byteLength(keyId), ...Buffer.from(keyId)]);
}

/**
 * The place that a sealed value is bound to. `tenantId` and `kind` are null if the row has none.
 */
export interface Place {
  readonly table: string;
  readonly column: string;
  readonly tenantId: string | null;
  /**
   * A further fact about the value, such as `hmac` for a secret of a tenant, or the version of a
   * secret of a node.
   */
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
 * Seals a value for one place. `sealedVersion` is 1 only while older services may still run,
 * because these services open no other version.
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
    throw new SealError(
      'A sealed value has a format that this version of the service does not know.',
    );
  }
  const nonceAt = headerBytes + keyIdBytes;
  const ciphertextAt = nonceAt + nonceBytes;
  const tagAt = sealed.byteLength - tagBytes;
  if (tagAt < ciphertextAt) throw new SealError('A sealed value is truncated.');
  return {
    version: sealedVersion,
    keyId: Buffer.from(sealed.subarray(headerBytes, nonceAt)).toString(),
    nonce: sealed.subarray(nonceAt, ciphertextAt),
    ciphertext: sealed.subarray(ciphertextAt, tagAt),
    tag: sealed.subarray(tagAt),
  };
}

/**
 * Opens a value that `seal` made for the same place. Throws SealError if the place or the key
 * differs, or if bytes were altered.
 */
export function unseal(
  keyring: Keyring,
  place: Place,
  sealed: Uint8Array,
  /**
   * A value of version 1 opens only if `previous` is true. The `tenantId` and `kind` of such a
   * value are not checked.
   */
  { previous = false }: { readonly previous?: boolean } = {},
): Uint8Array<ArrayBuffer> {
  const parts = splitSealed(sealed);
  if (parts.version === previousVersion && !previous) {
    throw new SealError(
      'A value is sealed in the old format, without its tenant and kind. The service no longer accepts that format. The value may have been copied from another place, or written by an older service.',
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
      'A sealed value cannot be decrypted. Either SVC_MASTER_KEY has a different key under the id of the key that sealed the value, or the value was altered or copied from another place.',
    );
  }
}

/**
 * The phases of the move from version 1 of sealed values to version 2. Only `previous` seals in
 * version 1, and only `bound` refuses to open version 1.
 */
export type SealingPhase = 'previous' | 'resealing' | 'bound';

/** Seals and opens values with one keyring. The store gets a sealer instead of the keys. */
export interface Sealer {
  /** The first bytes of every value that is sealed in version 2 under the current key. */
  readonly prefix: Uint8Array<ArrayBuffer>;
  /** The ids of the keys. The first one seals. */
  readonly keyIds: readonly string[];
  /** The store sets the phase from the state of the database. A new sealer begins with `bound`. */
  phase: SealingPhase;
  seal(place: Place, plaintext: Uint8Array | string): Uint8Array<ArrayBuffer>;
  unseal(place: Place, sealed: Uint8Array): Uint8Array<ArrayBuffer>;
}

export function createSealer(keyring: Keyring): Sealer {
  const sealer: Sealer = {
    prefix: sealedPrefix(keyring.sealingKeyId, version),
    keyIds: [...keyring.keys.keys()],
    phase: 'bound',
    seal: (place, plaintext) =>
      seal(keyring, place, plaintext, sealer.phase === 'previous' ? previousVersion : version),
    unseal: (place, sealed) =>
      unseal(keyring, place, sealed, { previous: sealer.phase !== 'bound' }),
  };
  return sealer;
}
