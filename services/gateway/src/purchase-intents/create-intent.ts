import { PurchaseIntentRequest } from '@svc/contracts';
import {
  assertInvariant,
  errorCatalogue,
  intentAmountUsdcMicros,
  intentAmountUsdcMicrosMax,
  formatCredits,
} from '@svc/domain';
import { createPurchaseIntent } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json, problem } from '../http/answer.ts';
import type { TenantRequest } from '../http/endpoint.ts';
import { validationProblem } from '../http/read-json.ts';
import { compileBody } from '../http/read-object.ts';
import { intentRecord } from './intent-record.ts';
import type { GatewayRail } from './rail.ts';

/** `POST /v1/credits/purchase-intents` (CONTRACT 8). */
export function intentCreation(
  deps: GatewayDeps,
  rail: GatewayRail,
): (request: TenantRequest) => Promise<Answer> {
  const checkBody = compileBody(PurchaseIntentRequest, ['credits']);
  return async (request) => {
    const body = checkBody(request);
    if (body.kind === 'problem') return body;
    const creditsMicros = body.amounts.get('credits');
    assertInvariant(
      creditsMicros !== undefined,
      'a purchase intent request that passed validation has the amount `credits`',
    );
    const { tenantId, rateCardVersion } = request.tenant;
    const { usdPerCreditMicros } = await deps.pricing.rateCard(rateCardVersion);
    const amountUsdcMicros = intentAmountUsdcMicros(creditsMicros, usdPerCreditMicros);
    if (amountUsdcMicros === undefined) return badAmount;
    const outcome = await createPurchaseIntent(deps.store, {
      reference: rail.newReference(),
      tenantId,
      creditsMicros,
      amountUsdcMicros,
      usdPerCreditMicros,
      recipient: rail.recipient,
      tokenAccount: rail.tokenAccount,
      mint: rail.mint,
      minutes: { intent: rail.intentMinutes, grace: rail.graceMinutes },
    });
    return outcome.kind === 'created'
      ? json(201, intentRecord(outcome.intent))
      : tooManyIntents(outcome.retryInMs);
  };
}

const badAmount = validationProblem([
  {
    path: '/credits',
    message: `must be a number of credits whose price in USDC has at most six decimals, is above 0 and is at most ${formatCredits(intentAmountUsdcMicrosMax)}`,
    keyword: 'multipleOf',
  },
]);

function tooManyIntents(retryInMs: number): Answer {
  const retryAfterSeconds = Math.max(Math.ceil(retryInMs / 1000), 1);
  return problem(
    'too_many_intents',
    errorCatalogue.too_many_intents.description,
    { retryAfterSeconds },
    { 'retry-after': String(retryAfterSeconds) },
  );
}
