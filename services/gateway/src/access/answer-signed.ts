import {
  bodyBytesMax,
  errorCatalogue,
  identityLengthMax,
  type KeyScope,
  toWireId,
} from '@svc/domain';
import type { RateLimiter } from '@svc/queue';
import { addressGroup, type Clock, type FailureLimit, type Sender } from '@svc/runtime';
import { sha256Hex } from '@svc/signing';
import type { TenantCredentials } from '@svc/store';
import type { Request, Response } from 'express';
import { type Answer, problem, type ProblemAnswer, rateLimited } from '../http/answer.ts';
import { decidedBeforeHold, type HoldReply, type SignedEndpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { receiveBody } from '../http/receive-body.ts';
import type { SignedRequest } from '../http/signed-request.ts';
import { authenticate, type Keys, type Principal } from './authenticate.ts';
import { answerWithCurrentKeys } from './current-keys.ts';
import type { KeyUses } from './key-uses.ts';
import { readSigningHeaders } from './signing-headers.ts';

export interface SignedOptions {
  readonly keys: Keys;
  readonly keyUses: KeyUses;
  readonly limiter: RateLimiter;
  readonly failures: FailureLimit;
  readonly clock: Clock;
}

/**
 * Answers a request that must be signed (CONTRACT 1). Undefined if the connection closes before the
 * body arrives. Throws the errors of `keys` and of the endpoint.
 */
export async function answerSigned(
  endpoint: SignedEndpoint,
  request: Request,
  response: Response,
  exchange: Exchange,
  options: SignedOptions,
): Promise<Answer | undefined> {
  const sender = senderOf(request);
  const waitMs = options.failures.waitMs(sender);
  if (waitMs > 0) return rateLimited(waitMs, tooManyFailures);
  const reading = await receiveBody(request, response, bodyBytesMax);
  if (reading.kind === 'aborted') return undefined;
  if (reading.kind === 'problem') return reading;
  const target = request.originalUrl;
  const headers = readSigningHeaders(request.rawHeaders);
  const parts = {
    method: request.method,
    target,
    headers,
    bodySha256: sha256Hex(reading.bytes),
    address: request.ip,
  };
  const access = endpoint.access === 'operator' ? 'operator' : 'tenant';
  const nowMs = options.clock.nowMs();
  const signed: SignedRequest = {
    requestId: exchange.requestId,
    trace: exchange.trace,
    target,
    id: String(
      request.params['id'] ?? request.params['reference'] ?? request.params['keyId'] ?? '',
    ),
    body: reading.bytes,
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
  };
  const { principal, answer } = await answerWithCurrentKeys({
    firstAge: endpoint.access === 'tenant_hold' ? 'any' : 'recent',
    identify: (age) => authenticate(parts, access, options.keys, nowMs, age),
    async attempt(known) {
      const refusal = await countRequest(known, exchange, options.limiter);
      return refusal === undefined ? handle(endpoint, known, signed) : decidedBeforeHold(refusal);
    },
  });
  if (principal !== undefined) {
    options.failures.succeeded(sender);
    if (principal.kind === 'tenant') options.keyUses.used(principal.keyId);
    return answer;
  }
  options.failures.failed(sender);
  // The request has failed authentication. An earlier try with older keys may have set these
  // members. The answer and its log line must not show them.
  delete exchange.tenantId;
  delete exchange.rateLimit;
  return answer;
}

const tooManyFailures =
  'Too many requests from this address failed authentication. Wait the seconds in `Retry-After`, then send a correctly signed request.';

function senderOf(request: Request): Sender {
  const { headers } = request;
  const identity = String(headers['x-svc-tenant'] ?? headers['x-svc-operator'] ?? '');
  return { address: addressGroup(request.ip), identity: identity.slice(0, identityLengthMax) };
}

/**
 * Takes at most one token from the tenant's rate limit bucket, even if the gateway tries the
 * request again with newer keys. Operators have no rate limit.
 */
async function countRequest(
  principal: Principal,
  exchange: Exchange,
  limiter: RateLimiter,
): Promise<ProblemAnswer | undefined> {
  if (principal.kind === 'operator') {
    exchange.operatorId = toWireId('op', principal.operator.operatorId);
    return undefined;
  }
  const { tenant } = principal;
  exchange.tenantId = toWireId('tnt', tenant.tenantId);
  const policy = policyOf(tenant);
  const taken = exchange.rateLimit?.decision;
  const decision = taken?.allowed === true ? taken : await limiter.take(exchange.tenantId, policy);
  exchange.rateLimit = { policy, decision };
  if (decision.allowed) return undefined;
  const { burst, perSecond } = policy;
  return rateLimited(
    decision.retryInMs,
    `This tenant sent too many requests. It may send ${burst} at once, and ${perSecond} per second. Repeat after the seconds in \`Retry-After\`.`,
  );
}

function policyOf({ rateLimitPerSecond, rateLimitBurst }: TenantCredentials) {
  return { perSecond: rateLimitPerSecond, burst: rateLimitBurst };
}

const scopeMissing: Readonly<Record<KeyScope, ProblemAnswer>> = {
  read: scopeProblem('read'),
  spend: scopeProblem('spend'),
  settings: scopeProblem('settings'),
};

function scopeProblem(scope: KeyScope): ProblemAnswer {
  return problem(
    'scope_missing',
    `This request needs a key with the scope \`${scope}\`. Sign it with another key.`,
  );
}

const operatorOnly = problem('operator_only', errorCatalogue.operator_only.description);

async function handle(
  endpoint: SignedEndpoint,
  principal: Principal,
  signed: SignedRequest,
): Promise<HoldReply> {
  if (endpoint.access === 'operator') {
    return decidedBeforeHold(
      principal.kind === 'operator'
        ? await endpoint.handle({ ...signed, operator: principal.operator })
        : operatorOnly,
    );
  }
  if (principal.kind === 'operator') throw new Error('an operator reached a tenant endpoint');
  const { tenant, keyId } = principal;
  if (!tenant.scopes.includes(endpoint.scope)) {
    return decidedBeforeHold(scopeMissing[endpoint.scope]);
  }
  const request = { ...signed, tenant, keyId };
  return endpoint.access === 'tenant_hold'
    ? endpoint.handle(request)
    : decidedBeforeHold(await endpoint.handle(request));
}
