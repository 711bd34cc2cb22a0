import type { AwaitIntentQuery } from '@svc/contracts';
import { awaitSecondsDefault, creditsToNumber, errorCatalogue } from '@svc/domain';
import { type PurchaseIntent, readPurchaseIntent, type Store } from '@svc/store';
import { type Answer, json, notFound, problem, rateLimited } from '../http/answer.ts';
import type { TenantRequest } from '../http/endpoint.ts';
import { intentRecord } from './intent-record.ts';
import type { GatewayRail } from './rail.ts';

/** The `Retry-After` of the `429` if too many requests of the gateway or the tenant wait already. */
const fullRetryMs = 5_000;

/** `GET …/:reference/await` (CONTRACT 8). */
export async function awaitIntent(
  store: Store,
  { waiters }: GatewayRail,
  { id: reference, tenant: { tenantId } }: TenantRequest,
  { timeoutSeconds = awaitSecondsDefault }: AwaitIntentQuery,
): Promise<Answer> {
  const intent = await readPurchaseIntent(store, { reference, tenantId });
  if (intent === null) return notFound;
  if (intent.status !== 'pending' || timeoutSeconds === 0) return answerOf(intent);
  const end = await waiters.wait({ tenantId, reference }, timeoutSeconds * 1000);
  if (end === 'full') {
    return rateLimited(
      fullRetryMs,
      'Too many requests wait for payments. Repeat the request with `timeoutSeconds=0`, which does not wait.',
    );
  }
  return answerOf((await readPurchaseIntent(store, { reference, tenantId })) ?? intent);
}

function answerOf(intent: PurchaseIntent): Answer {
  switch (intent.status) {
    case 'pending':
    case 'confirmed':
      return json(200, intentRecord(intent));
    case 'expired':
      return ended('intent_expired', intent);
    case 'failed':
      return ended('intent_failed', intent);
  }
}

function ended(code: 'intent_expired' | 'intent_failed', intent: PurchaseIntent): Answer {
  const paidAmount = creditsToNumber(intent.paidUsdcMicros);
  const { reference } = intent;
  return problem(code, errorCatalogue[code].description, { reference, paidAmount });
}
