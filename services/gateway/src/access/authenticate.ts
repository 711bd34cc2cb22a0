import { assertInvariant } from '@svc/domain';
import { checkSignatureHeaders, describeRefusal, verifyRequest } from '@svc/signing';
import type { OperatorCredentials, TenantCredentials } from '@svc/store';
import { problem, type ProblemAnswer } from '../http/answer.ts';
import type { SigningHeaders } from './signing-headers.ts';
import { decodeId } from './wire-ids.ts';

export interface SignedParts {
  readonly method: string;
  /** The request target exactly as sent. */
  readonly target: string;
  readonly headers: SigningHeaders;
  readonly bodySha256: string;
  /** The address of the client. Undefined if the connection has closed. */
  readonly address: string | undefined;
}

export type Principal =
  | {
      readonly kind: 'tenant';
      readonly tenant: TenantCredentials;
      /** The UUID of the key that signed the request. */
      readonly keyId: string;
      /**
       * True if the credentials were loaded less than `keysTtlMs` ago. Otherwise
       * `answerWithCurrentKeys` sends no answer before their epoch is checked.
       */
      readonly isRecent: boolean;
    }
  | { readonly kind: 'operator'; readonly operator: OperatorCredentials };

export type Authentication =
  | { readonly kind: 'authenticated'; readonly principal: Principal }
  | ProblemAnswer;

/**
 * How old credentials may be: `recent` is below `keysTtlMs` (CONTRACT 1), `new` is loaded for this
 * call. With `any`, the caller must check that the epoch is current.
 */
export type KeyAge = 'any' | 'recent' | 'new';

export interface AskedKey {
  readonly tenantId: string;
  /**
   * Null if the request names no key. Then the tenant's first keys are looked up: those from its
   * creation and from rotations (CONTRACT 12).
   */
  readonly keyId: string | null;
}

interface KnownKey {
  readonly credentials: TenantCredentials;
  readonly allows: (address: string | undefined) => boolean;
  readonly isRecent: boolean;
}

/** The keys of tenants and operators. Both methods resolve with null for an unknown key. */
export interface Keys {
  tenant(asked: AskedKey, age: KeyAge): Promise<KnownKey | null>;
  operator(operatorId: string): Promise<OperatorCredentials | null>;
}

/**
 * The kind of key that an endpoint accepts. An operator's endpoint also authenticates tenants, so
 * that it can answer them `403 operator_only`.
 */
export type Access = 'tenant' | 'operator';

/**
 * The answer to a request whose timestamp is outside the window. It is sent before the body is read
 * (CONTRACT 2). Undefined for any other request.
 */
export function refusalBeforeBody(
  headers: SigningHeaders,
  access: Access,
  nowMs: number,
): ProblemAnswer | undefined {
  const checked = checkSignatureHeaders({ ...headers, nowSeconds: Math.floor(nowMs / 1000) });
  if (checked.kind !== 'outside_window') return undefined;
  const identity = readIdentity(headers, access);
  const isMalformed = identity.kind === 'malformed';
  return unauthenticated(isMalformed ? identity.detail : describeRefusal(checked));
}

/**
 * Finds who signed this request. An unusable key and a wrong signature get the same answer, by the
 * same code path (CONTRACT 1). Throws if the keys cannot be loaded.
 */
export async function authenticate(
  request: SignedParts,
  access: Access,
  keys: Keys,
  nowMs: number,
  age: KeyAge = 'recent',
): Promise<Authentication> {
  const identity = readIdentity(request.headers, access);
  if (identity.kind === 'malformed') return unauthenticated(identity.detail);
  const { principalOf, secrets } = await findKey(identity, request, keys, age);
  const verification = verifyRequest({
    secrets,
    timestamp: request.headers.timestamp,
    signature: request.headers.signature,
    nowSeconds: Math.floor(nowMs / 1000),
    method: request.method,
    target: request.target,
    bodySha256: request.bodySha256,
  });
  if (verification.kind === 'verified') {
    return { kind: 'authenticated', principal: principalOf(verification.secretIndex) };
  }
  return unauthenticated(describeRefusal(verification));
}

interface Identity {
  readonly kind: Access;
  readonly id: string;
}

function readIdentity(
  { identities }: SigningHeaders,
  access: Access,
): Identity | { kind: 'malformed'; detail: string } {
  const [identity] = identities;
  if (identities.length > 1) {
    return {
      kind: 'malformed',
      detail:
        'The request has more than one identity header. Send exactly one of X-SVC-Tenant and X-SVC-Operator.',
    };
  }
  if (identity?.name === 'x-svc-tenant') return { kind: 'tenant', id: identity.id };
  if (access === 'tenant') return missing('X-SVC-Tenant');
  if (identity?.name === 'x-svc-operator') return { kind: 'operator', id: identity.id };
  return missing('X-SVC-Operator');
}

function missing(header: string): { kind: 'malformed'; detail: string } {
  return { kind: 'malformed', detail: `${header} is missing. Send your id in this header.` };
}

interface FoundKey {
  readonly principalOf: (secretIndex: number) => Principal;
  /** Empty if the key is unknown or may not be used. Then no signature matches. */
  readonly secrets: readonly string[];
}

const noKey: FoundKey = {
  principalOf() {
    throw new Error('a request was verified without a secret');
  },
  secrets: [],
};

async function findKey(
  { kind, id }: Identity,
  request: SignedParts,
  keys: Keys,
  age: KeyAge,
): Promise<FoundKey> {
  if (kind === 'tenant') return findTenantKey(id, request, keys, age);
  const operatorId = decodeId('op', id);
  const operator = operatorId === undefined ? null : await keys.operator(operatorId);
  if (operator === null || operator.disabled) return noKey;
  return { principalOf: () => ({ kind, operator }), secrets: [operator.secret] };
}

/** A malformed id is treated as an unknown one. */
async function findTenantKey(
  id: string,
  { headers, address }: SignedParts,
  keys: Keys,
  age: KeyAge,
): Promise<FoundKey> {
  const tenantId = decodeId('tnt', id);
  const named = headers.keyId === undefined ? null : decodeId('key', headers.keyId);
  if (tenantId === undefined || named === undefined) return noKey;
  const found = await keys.tenant({ tenantId, keyId: named }, age);
  if (found === null || found.credentials.disabled || !found.allows(address)) return noKey;
  const { credentials: tenant, isRecent } = found;
  return {
    principalOf(secretIndex) {
      const keyId = tenant.keyIds[secretIndex];
      assertInvariant(keyId !== undefined, 'every secret belongs to a key');
      return { kind: 'tenant', tenant, keyId, isRecent };
    },
    secrets: tenant.hmacSecrets,
  };
}

/** The one answer to a request whose key is unknown or may not be used (CONTRACT 1). */
export const wrongSignature = unauthenticated(describeRefusal({ kind: 'wrong_signature' }));

function unauthenticated(detail: string): ProblemAnswer {
  return problem('unauthenticated', detail, {}, { 'www-authenticate': 'SVC1-HMAC-SHA256' });
}
