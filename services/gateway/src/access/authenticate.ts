import { assertNever, fromWireId } from '@svc/domain';
import { type Verification, verifyRequest } from '@svc/signing';
import type { OperatorCredentials, TenantCredentials } from '@svc/store';
import { problem, type ProblemAnswer } from '../http/answer.ts';

/** What of a request its signature covers, and who it says it is from. */
export interface SignedParts {
  readonly method: string;
  /** The request target exactly as sent. */
  readonly target: string;
  /** Every header with each of its values apart. */
  readonly headers: NodeJS.Dict<string[]>;
  readonly bodySha256: string;
}

export type Principal =
  | { readonly kind: 'tenant'; readonly tenant: TenantCredentials }
  | { readonly kind: 'operator'; readonly operator: OperatorCredentials };

export type Authentication =
  | { readonly kind: 'authenticated'; readonly principal: Principal }
  | ProblemAnswer;

/** Where keys are looked up; null for an unknown one. */
export interface Keys {
  tenant(tenantId: string): Promise<TenantCredentials | null>;
  operator(operatorId: string): Promise<OperatorCredentials | null>;
}

/** Whose keys an endpoint takes; an operator's endpoint tells a tenant afterwards that it is none. */
export type Access = 'tenant' | 'operator';

const identityHeaders = ['x-svc-tenant', 'x-svc-operator', 'x-svc-node'] as const;

/**
 * Who signed this request (CONTRACT 1). Unknown key, disabled key and wrong signature take
 * the same path to the same answer. Throws where the keys cannot be read.
 */
export async function authenticate(
  request: SignedParts,
  access: Access,
  keys: Keys,
  nowMs: number,
): Promise<Authentication> {
  const identity = readIdentity(request.headers, access);
  if (identity.kind === 'malformed') return unauthenticated(identity.detail);
  const { principal, secrets } = await findKey(identity, keys);
  const verification = verifyRequest({
    secrets,
    timestamp: joined(request.headers['x-svc-timestamp']),
    signature: joined(request.headers['x-svc-signature']),
    nowSeconds: Math.floor(nowMs / 1000),
    method: request.method,
    target: request.target,
    bodySha256: request.bodySha256,
  });
  if (verification.kind === 'verified' && principal !== null) {
    return { kind: 'authenticated', principal };
  }
  return unauthenticated(refusal(verification));
}

interface Identity {
  readonly kind: Access;
  readonly id: string;
}

function readIdentity(
  headers: NodeJS.Dict<string[]>,
  access: Access,
): Identity | { kind: 'malformed'; detail: string } {
  const values = identityHeaders.flatMap((name) => headers[name] ?? []);
  if (values.length > 1) {
    return { kind: 'malformed', detail: 'The request has more than one identity header.' };
  }
  const [tenant] = headers['x-svc-tenant'] ?? [];
  if (tenant !== undefined) return { kind: 'tenant', id: tenant };
  if (access === 'tenant') return { kind: 'malformed', detail: 'X-SVC-Tenant is missing.' };
  const [operator] = headers['x-svc-operator'] ?? [];
  if (operator !== undefined) return { kind: 'operator', id: operator };
  return { kind: 'malformed', detail: 'X-SVC-Operator is missing.' };
}

interface FoundKey {
  readonly principal: Principal | null;
  /** None for an unknown or a disabled key: no signature matches then. */
  readonly secrets: readonly string[];
}

const noKey: FoundKey = { principal: null, secrets: [] };

async function findKey({ kind, id }: Identity, keys: Keys): Promise<FoundKey> {
  // A malformed id is an unknown one.
  if (kind === 'tenant') {
    const tenantId = fromWireId('tnt', id);
    const tenant = tenantId === undefined ? null : await keys.tenant(tenantId);
    if (tenant === null || tenant.disabled) return noKey;
    return { principal: { kind, tenant }, secrets: tenant.hmacSecrets };
  }
  const operatorId = fromWireId('op', id);
  const operator = operatorId === undefined ? null : await keys.operator(operatorId);
  if (operator === null || operator.disabled) return noKey;
  return { principal: { kind, operator }, secrets: [operator.secret] };
}

/** Repeated headers as one list, as HTTP has it. */
function joined(values: string[] | undefined): string | undefined {
  return values?.join(', ');
}

function refusal(verification: Verification): string {
  switch (verification.kind) {
    case 'malformed':
      return verification.detail;
    case 'outside_window': {
      const { seconds } = verification;
      const direction = seconds > 0 ? 'ahead of' : 'behind';
      return `X-SVC-Timestamp is ${Math.abs(seconds)} s ${direction} the clock of the service; 300 s are allowed.`;
    }
    case 'verified':
    case 'wrong_signature':
      return 'The signature is not that of a known, enabled key for this request.';
    default:
      return assertNever(verification);
  }
}

function unauthenticated(detail: string): ProblemAnswer {
  return problem('unauthenticated', detail, {}, { 'www-authenticate': 'SVC1-HMAC-SHA256' });
}
