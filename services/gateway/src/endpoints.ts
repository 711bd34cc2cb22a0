import { balanceEndpoint } from './credits/balance.ts';
import { listTransactionsEndpoint } from './credits/list-transactions.ts';
import { purchaseEndpoint } from './credits/purchase.ts';
import type { GatewayDeps } from './deps.ts';
import { documentationEndpoints } from './documentation/documentation-endpoints.ts';
import { missingForAll } from './health/readiness.ts';
import { readyEndpoint } from './health/ready.ts';
import type { Endpoint } from './http/endpoint.ts';
import { auditEndpoint } from './keys/audit.ts';
import { createKeyEndpoint, deleteKeyEndpoint, listKeysEndpoint } from './keys/keys.ts';
import { rateCardEndpoint } from './pricing/rate-card.ts';
import { purchaseIntentEndpoints } from './purchase-intents/endpoints.ts';
import { payPageEndpoints } from './purchase-intents/pay-page.ts';
import { signupEndpoints } from './signup/signup.ts';
import { cancelSubmissionEndpoint } from './submissions/cancel-submission.ts';
import { createQuoteEndpoint } from './submissions/create-quote.ts';
import { createSubmissionEndpoint } from './submissions/create-submission.ts';
import { getSubmissionEndpoint } from './submissions/get-submission.ts';
import { listSubmissionsEndpoint } from './submissions/list-submissions.ts';
import { webhookEndpointEndpoints } from './webhook-endpoints/endpoints.ts';
import { getDeliveryEndpoint, listDeliveriesEndpoint } from './webhooks/deliveries.ts';
import { redeliverEndpoint, testWebhookEndpoint } from './webhooks/send-webhook.ts';
import { changeSettingsEndpoint, getSettingsEndpoint } from './webhooks/settings.ts';

/** Returns all endpoints of the gateway, except those of its admin port. */
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
    ...purchaseIntentEndpoints(deps),
    rateCardEndpoint(deps),
    getSettingsEndpoint(deps),
    changeSettingsEndpoint(deps),
    testWebhookEndpoint(deps),
    listDeliveriesEndpoint(deps),
    getDeliveryEndpoint(deps),
    redeliverEndpoint(deps),
    listKeysEndpoint(deps),
    createKeyEndpoint(deps),
    deleteKeyEndpoint(deps),
    auditEndpoint(deps),
    ...webhookEndpointEndpoints(deps),
    readyEndpoint(() => missingForAll(deps.store, deps.redis)),
    ...payPageEndpoints(deps),
    ...signupEndpoints(deps),
    ...documentationEndpoints(),
  ];
}
