import { NoQuery, type QuoteAnswer } from '@svc/contracts';
import { assertInvariant, creditsToNumber } from '@svc/domain';
import { readBalance } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json, problem } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint, type TenantRequest } from '../http/endpoint.ts';
import { readObject } from '../http/read-object.ts';
import { checkJob } from './read-request.ts';

/** `POST /v1/quotes` (CONTRACT 5): prices a submission without holding credits. */
export function createQuoteEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'post',
    path: '/v1/quotes',
    scope: 'read',
    query: NoQuery,
    handle: (request) => createQuote(deps, request),
  });
}

async function createQuote(deps: GatewayDeps, request: TenantRequest): Promise<Answer> {
  const { tenantId, allowedJobTypes, rateCardVersion } = request.tenant;
  const body = readObject(request);
  if (body.kind === 'problem') return body;
  const job = checkJob(body, 'quote', allowedJobTypes);
  if (job.kind === 'problem') return job;
  const quoted = await deps.pricing.quote(rateCardVersion, job);
  if (quoted.kind === 'quote_failed') return problem('quote_failed', quoted.reason);
  const figures = await readBalance(deps.store, tenantId);
  assertInvariant(figures !== null, 'every tenant has an account');
  const availableMicros = figures.balanceMicros - figures.heldMicros;
  const answer: QuoteAnswer = {
    quote: {
      estimated: creditsToNumber(quoted.estimatedMicros),
      max: creditsToNumber(quoted.maxMicros),
      surge: creditsToNumber(quoted.surgeMicros),
    },
    sufficient: availableMicros >= quoted.maxMicros,
    available: creditsToNumber(availableMicros),
  };
  return json(200, answer);
}
