import { NoQuery, rateCardAnswer } from '@svc/contracts';
import type { GatewayDeps } from '../deps.ts';
import { json } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';

/** `GET /v1/rate-card` (CONTRACT 5): the tenant's rate card with the surge in force. */
export function rateCardEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: '/v1/rate-card',
    query: NoQuery,
    async handle({ tenant: { rateCardVersion } }) {
      const [card, surgeMicros] = await Promise.all([
        deps.pricing.rateCard(rateCardVersion),
        deps.pricing.surgeMicros(),
      ]);
      return json(200, rateCardAnswer(card, surgeMicros));
    },
  });
}
