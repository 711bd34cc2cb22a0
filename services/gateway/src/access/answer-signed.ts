import {
  bodyBytesMax,
  countJsonValues,
  errorCatalogue,
  identityLengthMax,
  jsonValuesMax,
  jsonValuesPerToken,
  type KeyScope,
  settingsChangesBurst,
  settingsChangesPerSecond,
  toWireId,
} from '@svc/domain';
import type { RateLimiter } from '@svc/queue';
import {
  addressGroup,
  type Attempt,
  type Clock,
  type FailureLimit,
  type Sender,
  type TrustedProxies,
} from '@svc/runtime';
import { sha256Hex } from '@svc/signing';
import type { TenantCredentials } from '@svc/store';
import type { Request, Response } from 'express';
import { type Answer, problem, type ProblemAnswer, rateLimited } from '../http/answer.ts';
import type { BodyBudget, BodyReservation } from '../http/body-budget.ts';
import { decidedBeforeHold, type HoldReply, type SignedEndpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { declaresTooLarge } from '../http/read-body.ts';
import { payloadTooLarge, receiveBody } from '../http/receive-body.ts';
import type { SignedRequest } from '../http/signed-request.ts';
import {
  type Access,
  authenticate,
  type Keys,
  type Principal,
  refusalBeforeBody,
} from './authenticate.ts';
import { answerWithCurrentKeys } from './current-keys.ts';
import type { KeyUses } from './key-uses.ts';
import { largeBodyTurn } from './large-body-turn.ts';
import { readSigningHeaders, type SigningHeaders } from './signing-headers.ts';

export interface SignedOptions {
  readonly keys: Keys;
  readonly keyUses: KeyUses;
  readonly limiter: RateLimiter;
  readonly failures: FailureLimit;
  readonly bodyBudget: BodyBudget;
  /** The proxies that are trusted to report the client's address and its use of TLS. */
  readonly proxies: TrustedProxies;
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
  const { failures, bodyBudget } = options;
  const address = options.proxies.clientAddress(request);
  const sender = senderOf(request, address);
  const waitMs = failures.waitMs(sender);
  if (waitMs > 0) return rateLimited(waitMs, tooManyFailures);
  if (declaresTooLarge(request, bodyBytesMax)) return payloadTooLarge;
  const headers = readSigningHeaders(request.rawHeaders);
  const access = endpoint.access === 'operator' ? 'operator' : 'tenant';
  const refusal = refusalBeforeBody(headers, access, options.clock.nowMs());
  if (refusal !== undefined) {
    failures.attempt(sender);
    return refusal;
  }
  const reading = await receiveBody(request, response, {
    bytesMax: bodyBytesMax,
    budget: bodyBudget,
    addressGroup: sender.address,
  });
  if (reading.kind === 'aborted') return undefined;
  if (reading.kind === 'problem') return reading;
  // The request counts as failed while it is checked. Otherwise all forged requests that arrive
  // during a check would be checked.
  const attempt = failures.attempt(sender);
  if (attempt.kind === 'limited') {
    reading.reservation.release();
    return rateLimited(attempt.waitMs, tooManyFailures);
  }
  const { bytes, reservation } = reading;
  const received = { bytes, headers, access, address, sender, attempt, reservation } as const;
  try {
    return await answerReceived(endpoint, request, exchange, received, options);
  } finally {
    reservation.release();
  }
}

interface Received {
  readonly bytes: Buffer;
  readonly headers: SigningHeaders;
  readonly access: Access;
  readonly address: string | undefined;
  readonly sender: Sender;
  readonly attempt: Extract<Attempt, { kind: 'counted' }>;
  readonly reservation: BodyReservation;
}

async function answerReceived(
  endpoint: SignedEndpoint,
  request: Request,
  exchange: Exchange,
  { bytes, headers, access, address, sender, attempt, reservation }: Received,
  options: SignedOptions,
): Promise<Answer> {
  const target = request.originalUrl;
  const parts = {
    method: request.method,
    target,
    headers,
    bodySha256: sha256Hex(bytes),
    address,
  };
  const nowMs = options.clock.nowMs();
  const signed: SignedRequest = {
    requestId: exchange.requestId,
    trace: exchange.trace,
    target,
    id: String(
      request.params['id'] ?? request.params['reference'] ?? request.params['keyId'] ?? '',
    ),
    body: bytes,
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
  };
  let isKnown = false;
  const { principal, answer } = await answerWithCurrentKeys({
    firstAge: endpoint.access === 'tenant_hold' ? 'any' : 'recent',
    identify: async (age) => {
      try {
        return await authenticate(parts, access, options.keys, nowMs, age);
      } catch (error) {
        if (!isKnown) attempt.undecided();
        throw error;
      }
    },
    async attempt(known) {
      // A handler may wait for a minute. The sender is known, so neither limit counts it any more.
      if (!isKnown) attempt.succeeded();
      isKnown = true;
      reservation.release();
      const refusal = await countRequest(known, bytes, exchange, options.limiter);
      await largeBodyTurn(bytes.length);
      return refusal === undefined
        ? handle(endpoint, known, signed, options.limiter)
        : decidedBeforeHold(refusal);
    },
  });
  if (principal !== undefined) {
    if (principal.kind === 'tenant') options.keyUses.used(principal.keyId);
    return answer;
  }
  if (isKnown) options.failures.attempt(sender);
  // The request has failed authentication. An earlier try with older keys may have set these
  // members. The answer and its log line must not show them.
  delete exchange.tenantId;
  delete exchange.rateLimit;
  return answer;
}

const tooManyFailures =
  'Too many requests from this address failed authentication. Wait the seconds in `Retry-After`, then send a correctly signed request.';

function senderOf({ headers }: Request, address: string | undefined): Sender {
  const identity = String(headers['x-svc-tenant'] ?? headers['x-svc-operator'] ?? '');
  return { address: addressGroup(address), identity: identity.slice(0, identityLengthMax) };
}

/**
 * Takes one token of the tenant's rate limit, and one for each full 1,000 values of the body. A try
 * with newer keys takes none. Operators have no rate limit.
 */
async function countRequest(
  principal: Principal,
  body: Buffer,
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
  const decision =
    taken?.allowed === true
      ? taken
      : await limiter.take(exchange.tenantId, policy, 1 + extraTokensOf(body));
  exchange.rateLimit = { policy, decision };
  if (decision.allowed) return undefined;
  const { burst, perSecond } = policy;
  return rateLimited(
    decision.retryInMs,
    `This tenant sent too many requests. It may send ${burst} at once, and ${perSecond} per second. Repeat after the seconds in \`Retry-After\`.`,
  );
}

/** Each value takes at least two bytes, so most bodies need no count. */
function extraTokensOf(body: Buffer): number {
  if (body.length < 2 * jsonValuesPerToken - 1) return 0;
  return Math.floor(countJsonValues(body, jsonValuesMax) / jsonValuesPerToken);
}

const changesPolicy = { perSecond: settingsChangesPerSecond, burst: settingsChangesBurst };

/** Takes a token of the slower bucket for changes of settings, keys and endpoints (CONTRACT 2). */
async function countChange(
  tenantId: string,
  limiter: RateLimiter,
): Promise<ProblemAnswer | undefined> {
  const decision = await limiter.take(`${toWireId('tnt', tenantId)}:changes`, changesPolicy);
  if (decision.allowed) return undefined;
  return rateLimited(
    decision.retryInMs,
    `This tenant changed its settings, keys and webhook endpoints too often. It may make ${settingsChangesBurst} changes at once, and ${settingsChangesPerSecond} per second. Repeat after the seconds in \`Retry-After\`.`,
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
  limiter: RateLimiter,
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
  if (endpoint.changesSettings === true) {
    const refusal = await countChange(tenant.tenantId, limiter);
    if (refusal !== undefined) return decidedBeforeHold(refusal);
  }
  const request = { ...signed, tenant, keyId };
  return endpoint.access === 'tenant_hold'
    ? endpoint.handle(request)
    : decidedBeforeHold(await endpoint.handle(request));
}
