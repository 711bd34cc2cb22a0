import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { replayWindowSeconds, signatureValuesMax } from '@svc/domain';
import { createKeyCache } from './key-objects.ts';

/**
 * Signed requests of tenants, operators and nodes (CONTRACT 1).
 * `packages/signing/vectors/request-signing.json` has test vectors that other implementations
 * computed.
 */

export const signatureScheme = 'SVC1-HMAC-SHA256';
const signatureVersion = 'v1';

/** Lower-case hexadecimal SHA-256 of bytes, or of a text in UTF-8. */
export function sha256Hex(bytes: Uint8Array | string): string {
  return hash('sha256', bytes);
}

/** The signed parts of a request. `target` is the path and query exactly as sent. */
export interface SignedParts {
  /** Unix seconds, written exactly as in the header `X-SVC-Timestamp`. */
  readonly timestamp: string;
  readonly method: string;
  readonly target: string;
  readonly bodySha256: string;
}

export function stringToSign(parts: SignedParts): string {
  return [signatureScheme, parts.timestamp, parts.method, parts.target, parts.bodySha256].join(
    '\n',
  );
}

const keyOf = createKeyCache((secret) => Buffer.from(secret));

function hmac(secret: string, text: string): Buffer {
  return createHmac('sha256', keyOf(secret)).update(text).digest();
}

/** Returns the value of `X-SVC-Signature`. The HMAC key is the whole secret, with its prefix. */
export function signRequest(request: {
  readonly secret: string;
  readonly timestamp: string | number;
  readonly method: string;
  readonly target: string;
  readonly body: Uint8Array | string;
}): string {
  const text = stringToSign({
    timestamp: String(request.timestamp),
    method: request.method,
    target: request.target,
    bodySha256: sha256Hex(request.body),
  });
  return `${signatureVersion}=${hmac(request.secret, text).toString('hex')}`;
}

export type Verification =
  /**
   * `secretIndex` is an index in the `secrets` that `verifyRequest` got. It points to the last
   * secret that matches a signature.
   */
  | { readonly kind: 'verified'; readonly secretIndex: number }
  | { readonly kind: 'malformed'; readonly detail: string }
  /** `seconds` is positive if the timestamp is ahead of the service's clock, otherwise negative. */
  | { readonly kind: 'outside_window'; readonly seconds: number }
  | { readonly kind: 'wrong_signature' };

const timestampPattern = /^[0-9]{1,15}$/;
const valuePattern = /^v[0-9]+=[!-~]+$/;
const v1Pattern = /^v1=([0-9a-f]{64})$/;

type Presented =
  | { kind: 'signatures'; signatures: Buffer[] }
  | { kind: 'malformed'; detail: string };

/** The result of a check of the headers alone, without the body and the secret. */
export type CheckedHeaders = Presented | Extract<Verification, { kind: 'outside_window' }>;

/**
 * Removes spaces and tabs at both ends. It uses loops, because a regular expression could take
 * quadratic time.
 */
function withoutOptionalSpaces(text: string): string {
  const isSpace = (at: number): boolean => text[at] === ' ' || text[at] === '\t';
  let start = 0;
  let end = text.length;
  while (isSpace(start)) start += 1;
  while (isSpace(end - 1)) end -= 1;
  return text.slice(start, end);
}

/** Returns the `v1` signatures of the header. Values of other versions are ignored (CONTRACT 1). */
function presentedSignatures(header: string): Presented {
  // The limit of `split` is one above the allowed maximum, because one extra value is enough to
  // refuse the header.
  const values = header.split(',', signatureValuesMax + 1).map(withoutOptionalSpaces);
  if (values.length > signatureValuesMax) {
    const detail = `X-SVC-Signature has more than ${signatureValuesMax} values.`;
    return { kind: 'malformed', detail };
  }
  if (!values.every((value) => valuePattern.test(value))) {
    return { kind: 'malformed', detail: 'A value in X-SVC-Signature is not of the form v1=<hex>.' };
  }
  const signatures = values.flatMap((value) => {
    const hex = v1Pattern.exec(value)?.[1];
    return hex === undefined ? [] : [Buffer.from(hex, 'hex')];
  });
  if (signatures.length > 0) return { kind: 'signatures', signatures };
  const detail = 'X-SVC-Signature has no v1 value of 64 lowercase hexadecimal digits.';
  return { kind: 'malformed', detail };
}

/**
 * Takes the place of the secrets if the caller passes none. The check then takes as long as for a
 * key with one secret.
 */
const noSecret = 'no secret: an unknown or unusable key';

/** Returns the index of the last secret that matches a signature, or -1 if no secret matches. */
function matchingSecret(
  signatures: readonly Buffer[],
  secrets: readonly string[],
  text: string,
): number {
  let matching = -1;
  // Every comparison is made, because the time must not show which secret matches.
  for (const [index, secret] of (secrets.length > 0 ? secrets : [noSecret]).entries()) {
    const expected = hmac(secret, text);
    for (const signature of signatures) {
      const isEqual = timingSafeEqual(signature, expected);
      matching = isEqual ? index : matching;
    }
  }
  return secrets.length > 0 ? matching : -1;
}

/**
 * Checks the form of the headers, and the timestamp against the clock. A request that fails here
 * fails with every body and every secret (CONTRACT 1).
 */
export function checkSignatureHeaders({
  timestamp,
  signature,
  nowSeconds,
}: {
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  /** Unix seconds. A fraction is ignored. */
  readonly nowSeconds: number;
}): CheckedHeaders {
  if (timestamp === undefined) {
    return { kind: 'malformed', detail: 'X-SVC-Timestamp is missing.' };
  }
  if (signature === undefined) {
    return { kind: 'malformed', detail: 'X-SVC-Signature is missing.' };
  }
  if (!timestampPattern.test(timestamp)) {
    return { kind: 'malformed', detail: 'X-SVC-Timestamp is not Unix time in seconds.' };
  }
  const presented = presentedSignatures(signature);
  if (presented.kind === 'malformed') return presented;
  const seconds = Number(timestamp) - Math.floor(nowSeconds);
  return Math.abs(seconds) > replayWindowSeconds ? { kind: 'outside_window', seconds } : presented;
}

/**
 * Verifies the headers `X-SVC-Timestamp` and `X-SVC-Signature` of a request (CONTRACT 1). One
 * signature that matches one secret is enough.
 */
export function verifyRequest(
  request: Omit<SignedParts, 'timestamp'> & {
    /** The valid secrets of the sender. Empty if its key is unknown or may not be used. */
    readonly secrets: readonly string[];
    readonly timestamp: string | undefined;
    readonly signature: string | undefined;
    /** Unix seconds. A fraction is ignored. */
    readonly nowSeconds: number;
  },
): Verification {
  const { timestamp = '', method, target, bodySha256 } = request;
  const checked = checkSignatureHeaders(request);
  if (checked.kind !== 'signatures') return checked;
  const text = stringToSign({ timestamp, method, target, bodySha256 });
  const secretIndex = matchingSecret(checked.signatures, request.secrets, text);
  return secretIndex < 0 ? { kind: 'wrong_signature' } : { kind: 'verified', secretIndex };
}

/**
 * The `detail` of the 401 for a request that was not verified (CONTRACT 2). It does not say whether
 * the key exists.
 */
export function describeRefusal(verification: Verification): string {
  switch (verification.kind) {
    case 'malformed':
      return verification.detail;
    case 'outside_window': {
      const { seconds } = verification;
      const direction = seconds > 0 ? 'ahead of' : 'behind';
      return `X-SVC-Timestamp is ${Math.abs(seconds)} s ${direction} the clock of the service. At most ${replayWindowSeconds} s are allowed.`;
    }
    case 'verified':
    case 'wrong_signature':
      return 'No enabled key that may be used from this address matches the signature. Check the key id, the secret and the string that you sign.';
  }
}
