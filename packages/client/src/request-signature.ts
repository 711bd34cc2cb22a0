export const encoder = new TextEncoder();
const hash = 'SHA-256';

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Imports an HMAC key into WebCrypto, the only cryptography that this package uses. */
export function hmacKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash }, false, ['sign', 'verify']);
}

export interface SignedParts {
  /** Unix time in seconds. */
  readonly timestamp: number;
  readonly method: string;
  /** The path and query exactly as sent. */
  readonly target: string;
  readonly body: string;
}

/**
 * Returns a function that signs requests with the secret. That function returns the value of
 * `X-SVC-Signature` (CONTRACT 1).
 */
export function requestSigner(secret: string): (request: SignedParts) => Promise<string> {
  let importing: Promise<CryptoKey> | undefined;
  return async ({ timestamp, method, target, body }) => {
    importing ??= hmacKey(encoder.encode(secret));
    const bodySha256 = hex(await crypto.subtle.digest(hash, encoder.encode(body)));
    const lines = ['SVC1-HMAC-SHA256', timestamp, method, target, bodySha256];
    const text = encoder.encode(lines.join('\n'));
    return `v1=${hex(await crypto.subtle.sign('HMAC', await importing, text))}`;
  };
}
