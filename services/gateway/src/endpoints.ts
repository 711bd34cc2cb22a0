import type { GatewayDeps } from './deps.ts';
import { documentationEndpoints } from './documentation/documentation-endpoints.ts';
import type { Endpoint } from './http/endpoint.ts';
import { missingForAll } from './readiness.ts';
import { balanceEndpoint } from './routes/balance.ts';
import { cancelSubmissionEndpoint } from './routes/cancel-submission.ts';
import { createQuoteEndpoint } from './routes/create-quote.ts';
import { createSubmissionEndpoint } from './routes/create-submission.ts';
import { getSubmissionEndpoint } from './routes/get-submission.ts';
import { rateCardEndpoint } from './routes/rate-card.ts';
import { readyEndpoint } from './routes/ready.ts';

/** Every route of the gateway; what is not in here is 404. */
export function endpointsOf(deps: GatewayDeps): readonly Endpoint[] {
  return [
    createSubmissionEndpoint(deps),
    getSubmissionEndpoint(deps),
    cancelSubmissionEndpoint(deps),
    createQuoteEndpoint(deps),
    balanceEndpoint(deps),
    rateCardEndpoint(deps),
    readyEndpoint(() => missingForAll(deps.store, deps.redis)),
    ...documentationEndpoints(),
  ];
}
