import { NoQuery, type Balance } from '@svc/contracts';
import { assertInvariant, creditsToNumber } from '@svc/domain';
import { readBalance } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { json } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';

/** `GET /v1/credits/balance` (SPEC 2.5). */
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
      const { balanceMicros, heldMicros } = figures;
      const body: Balance = {
        balance: creditsToNumber(balanceMicros),
        held: creditsToNumber(heldMicros),
        available: creditsToNumber(balanceMicros - heldMicros),
        rebateAccrued: creditsToNumber(figures.rebateAccruedMicros),
        currency: 'credits',
        usdPerCredit: creditsToNumber(card.usdPerCreditMicros),
      };
      return json(200, body);
    },
  });
}
