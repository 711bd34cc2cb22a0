import { fromWireId } from '@svc/domain';
import { describeRefusal, verifyRequest } from '@svc/signing';
import type { OperatorCredentials, TenantCredentials } from '@svc/store';
import { problem, type ProblemAnswer } from '../http/answer.ts';
import type { SigningHeaders } from './signing-headers.ts';

/** The parts of a request that the signature covers, and the headers with the identity. */
export interface SignedParts {
  readonly method: string;
  /** The request target exactly as sent. */
  readonly target: string;
  readonly headers: SigningHeaders;
  readonly bodySha256: string;
}

export type Principal =
  | {
      readonly kind: 'tenant';
      readonly tenant: TenantCredentials;
      /** True if the credentials may decide by themselves. False if a hold must compare their epoch. */
      readonly isRecent: boolean;
    }
  | { readonly kind: 'operator'; readonly operator: OperatorCredentials };

export type Authentication =
  | { readonly kind: 'authenticated'; readonly principal: Principal }
  | ProblemAnswer;

/** `any`: the caller compares the epoch. `recent`: within the time that a change may take. */
export type KeyAge = 'any' | 'recent' | 'new';

/** Looks up keys by id. Null if the id is unknown. */
export interface Keys {
  tenant(
    tenantId: string,
    age: KeyAge,
  ): Promise<{ readonly credentials: TenantCredentials; readonly isRecent: boolean } | null>;
  operator(operatorId: string): Promise<OperatorCredentials | null>;
}

/**
 * The kind of key that an endpoint accepts. An operator's endpoint also authenticates tenants, so
 * that it can answer them `403 operator_only`.
 */
export type Access = 'tenant' | 'operator';

/**
 * Finds who signed this request (CONTRACT 1). An unknown key, a disabled key and a wrong
 * signature get the same answer by the same code path. Throws if the keys cannot be loaded.
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
  const { principal, secrets } = await findKey(identity, keys, age);
  const verification = verifyRequest({
    secrets,
    timestamp: request.headers.timestamp,
    signature: request.headers.signature,
    nowSeconds: Math.floor(nowMs / 1000),
    method: request.method,
    target: request.target,
    bodySha256: request.bodySha256,
  });
  if (verification.kind === 'verified' && principal !== null) {
    return { kind: 'authenticated', principal };
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
  readonly principal: Principal | null;
  /** Empty for an unknown or disabled key, so that no signature matches. */
  readonly secrets: readonly string[];
}

const noKey: FoundKey = { principal: null, secrets: [] };

async function findKey({ kind, id }: Identity, keys: Keys, age: KeyAge): Promise<FoundKey> {
  // A malformed id is treated as an unknown one.
  if (kind === 'tenant') {
    const tenantId = fromWireId('tnt', id);
    const found = tenantId === undefined ? null : await keys.tenant(tenantId, age);
    if (found === null || found.credentials.disabled) return noKey;
    const { credentials: tenant, isRecent } = found;
    return { principal: { kind, tenant, isRecent }, secrets: tenant.hmacSecrets };
  }
  const operatorId = fromWireId('op', id);
  const operator = operatorId === undefined ? null : await keys.operator(operatorId);
  if (operator === null || operator.disabled) return noKey;
  return { principal: { kind, operator }, secrets: [operator.secret] };
}

function unauthenticated(detail: string): ProblemAnswer {
  return problem('unauthenticated', detail, {}, { 'www-authenticate': 'SVC1-HMAC-SHA256' });
}
