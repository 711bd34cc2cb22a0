import type { GatewayDeps } from './deps.ts';
import { documentationEndpoints } from './documentation/documentation-endpoints.ts';
import type { Endpoint } from './http/endpoint.ts';
import { missingForAll } from './readiness.ts';
import { balanceEndpoint } from './routes/balance.ts';
import { cancelSubmissionEndpoint } from './routes/cancel-submission.ts';
import { createQuoteEndpoint } from './routes/create-quote.ts';
import { createSubmissionEndpoint } from './routes/create-submission.ts';
import { getDeliveryEndpoint, listDeliveriesEndpoint } from './routes/deliveries.ts';
import { getSubmissionEndpoint } from './routes/get-submission.ts';
import { listSubmissionsEndpoint } from './routes/list-submissions.ts';
import { listTransactionsEndpoint } from './routes/list-transactions.ts';
import { purchaseIntentEndpoints } from './routes/purchase-intents.ts';
import { purchaseEndpoint } from './routes/purchase.ts';
import { rateCardEndpoint } from './routes/rate-card.ts';
import { readyEndpoint } from './routes/ready.ts';
import { redeliverEndpoint, testWebhookEndpoint } from './routes/send-webhook.ts';
import { changeSettingsEndpoint, getSettingsEndpoint } from './routes/settings.ts';
import { signupEndpoints } from './routes/signup.ts';

/** Every route of the gateway; what is not in here is 404. */
export function endpointsOf(deps: GatewayDeps): readonly Endpoint[] {
  return [
    createSubmissionEndpoint(deps),
    listSubmissionsEndpoint(deps),
    getSubmissionEndpoint(deps),
    cancelSubmissionEndpoint(deps),
    createQuoteEndpoint(deps),
    balanceEndpoint(deps),
    listTransactionsEndpoint(deps),
    purchaseEndpoint(deps),
    ...purchaseIntentEndpoints(),
    rateCardEndpoint(deps),
    getSettingsEndpoint(deps),
    changeSettingsEndpoint(deps),
    testWebhookEndpoint(deps),
    listDeliveriesEndpoint(deps),
    getDeliveryEndpoint(deps),
    redeliverEndpoint(deps),
    readyEndpoint(() => missingForAll(deps.store, deps.redis)),
    ...signupEndpoints(deps),
    ...documentationEndpoints(),
  ];
}
