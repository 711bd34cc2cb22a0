import { AwaitIntentQuery, NoQuery } from '@svc/contracts';
import { errorCatalogue } from '@svc/domain';
import { readPurchaseIntent } from '@svc/store';
import type { TObject } from 'typebox';
import type { GatewayDeps } from '../deps.ts';
import { json, notFound, problem, text } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint, type TenantRequest } from '../http/endpoint.ts';
import { awaitIntent } from './await-intent.ts';
import { intentCreation } from './create-intent.ts';
import { intentRecord, isReference, solanaPayUrl } from './intent-record.ts';
import { qrCodeSvg } from './qr-code.ts';

const disabled = problem('solana_disabled', errorCatalogue.solana_disabled.description);
const intents = '/v1/credits/purchase-intents';
const one = `${intents}/:reference`;

/**
 * The endpoints of purchase intents (CONTRACT 8). While the rail is off, they check signature, rate
 * limit, scope and query, then answer `409 solana_disabled`.
 */
export function purchaseIntentEndpoints(deps: GatewayDeps): readonly TenantEndpoint[] {
  const { rail, store } = deps;
  if (rail === null) {
    return [
      off('post', intents, NoQuery),
      off('get', one, NoQuery),
      off('get', `${one}/qr.svg`, NoQuery),
      off('get', `${one}/await`, AwaitIntentQuery),
    ];
  }
  const find = async ({ id: reference, tenant: { tenantId } }: TenantRequest) =>
    isReference(reference) ? readPurchaseIntent(store, { reference, tenantId }) : null;
  return [
    tenantEndpoint({
      method: 'post',
      path: intents,
      scope: 'spend',
      query: NoQuery,
      handle: intentCreation(deps, rail),
    }),
    tenantEndpoint({
      method: 'get',
      path: one,
      query: NoQuery,
      async handle(request) {
        const intent = await find(request);
        return intent === null ? notFound : json(200, intentRecord(intent));
      },
    }),
    tenantEndpoint({
      method: 'get',
      path: `${one}/qr.svg`,
      query: NoQuery,
      async handle(request) {
        const intent = await find(request);
        if (intent === null) return notFound;
        return text(200, 'image/svg+xml', await qrCodeSvg(solanaPayUrl(intent)));
      },
    }),
    tenantEndpoint({
      method: 'get',
      path: `${one}/await`,
      query: AwaitIntentQuery,
      handle: async (request, query) =>
        isReference(request.id) ? awaitIntent(store, rail, request, query) : notFound,
    }),
  ];
}

function off(method: 'get' | 'post', path: string, query: TObject): TenantEndpoint {
  const scope = method === 'post' ? 'spend' : 'read';
  return tenantEndpoint({ method, path, scope, query, handle: async () => disabled });
}
