import { AwaitIntentQuery, NoQuery } from '@svc/contracts';
import { errorCatalogue } from '@svc/domain';
import type { TObject } from 'typebox';
import { problem } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';

const disabled = problem('solana_disabled', errorCatalogue.solana_disabled.description);
const intents = '/v1/credits/purchase-intents';

/**
 * The Solana rail while it is disabled (CONTRACT 8). Every correctly signed request gets
 * `409 solana_disabled`; its body and reference are not checked.
 */
export function purchaseIntentEndpoints(): readonly TenantEndpoint[] {
  return [
    off('post', intents, NoQuery),
    off('get', `${intents}/:reference`, NoQuery),
    off('get', `${intents}/:reference/await`, AwaitIntentQuery),
  ];
}

function off(method: 'get' | 'post', path: string, query: TObject): TenantEndpoint {
  return tenantEndpoint({ method, path, query, handle: async () => disabled });
}
