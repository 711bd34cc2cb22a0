import { balanceAnswer, NoQuery } from '@svc/contracts';
import { assertInvariant } from '@svc/domain';
import { readBalance } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { json } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';

/** `GET /v1/credits/balance` (CONTRACT 5). */
export function balanceEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: '/v1/credits/balance',
    query: NoQuery,
    async handle({ tenant: { tenantId, rateCardVersion } }) {
      const [figures, card] = await Promise.all([
        readBalance(deps.store, tenantId),
        deps.pricing.rateCard(rateCardVersion),
      ]);
      assertInvariant(figures !== null, 'every tenant has an account');
      return json(200, balanceAnswer(figures, card.usdPerCreditMicros));
    },
  });
}
