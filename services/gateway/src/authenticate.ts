import { assertNever, fromWireId } from '@svc/domain';
import { type Verification, verifyRequest } from '@svc/signing';
import type { TenantCredentials } from '@svc/store';
import { problem, type ProblemAnswer } from './http/answer.ts';

/** What of a request its signature covers, and who it says it is from. */
export interface SignedRequest {
  readonly method: string;
  /** The request target exactly as sent. */
  readonly target: string;
  /** Every header with each of its values apart. */
  readonly headers: NodeJS.Dict<string[]>;
  readonly bodySha256: string;
}

export type Authentication =
  | { readonly kind: 'authenticated'; readonly tenant: TenantCredentials }
  | ProblemAnswer;

/** How long a rotated secret or a disabled tenant may go unnoticed. */
export const credentialsTtlMs = 3_000;
export const credentialsEntriesMax = 10_000;

const identityHeaders = ['x-svc-tenant', 'x-svc-operator', 'x-svc-node'] as const;

/**
 * Whether a tenant signed this request (CONTRACT section 1). Unknown tenant, disabled tenant and
 * wrong signature take the same path to the same answer. Throws where the credentials cannot be
 * read.
 */
export async function authenticateTenant(
  request: SignedRequest,
  findCredentials: (tenantId: string) => Promise<TenantCredentials | null>,
  nowMs: number,
): Promise<Authentication> {
  const identity = readIdentity(request.headers);
  if (identity.kind === 'malformed') return unauthenticated(identity.detail);
  // A malformed id is an unknown one.
  const tenantId = fromWireId('tnt', identity.tenant);
  const tenant = tenantId === undefined ? null : await findCredentials(tenantId);
  const isEnabled = tenant !== null && !tenant.disabled;
  const verification = verifyRequest({
    secrets: isEnabled ? tenant.hmacSecrets : [],
    timestamp: joined(request.headers['x-svc-timestamp']),
    signature: joined(request.headers['x-svc-signature']),
    nowSeconds: Math.floor(nowMs / 1000),
    method: request.method,
    target: request.target,
    bodySha256: request.bodySha256,
  });
  if (verification.kind === 'verified' && isEnabled) return { kind: 'authenticated', tenant };
  return unauthenticated(refusal(verification));
}

function readIdentity(
  headers: NodeJS.Dict<string[]>,
): { kind: 'tenant'; tenant: string } | { kind: 'malformed'; detail: string } {
  const values = identityHeaders.flatMap((name) => headers[name] ?? []);
  const [tenant] = headers['x-svc-tenant'] ?? [];
  if (values.length > 1) {
    return { kind: 'malformed', detail: 'The request has more than one identity header.' };
  }
  if (tenant === undefined) return { kind: 'malformed', detail: 'X-SVC-Tenant is missing.' };
  return { kind: 'tenant', tenant };
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
