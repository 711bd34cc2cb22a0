import { NoQuery, type PurchaseAnswer, PurchaseRequest } from '@svc/contracts';
import { assertInvariant, assertNever, creditsToNumber, fromWireId, toWireId } from '@svc/domain';
import { type Grant, grantCredits } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json, notFound, problem } from '../http/answer.ts';
import { operatorEndpoint, type OperatorEndpoint, type OperatorRequest } from '../http/endpoint.ts';
import { validationProblem } from '../http/read-json.ts';
import { compileBody } from '../http/read-object.ts';

/**
 * `POST /v1/credits/purchase` (CONTRACT 5), for operators. Calls with the same `reference` grant
 * credits only once.
 */
export function purchaseEndpoint(deps: GatewayDeps): OperatorEndpoint {
  const checkBody = compileBody(PurchaseRequest, ['credits', 'usd']);
  return operatorEndpoint({
    method: 'post',
    path: '/v1/credits/purchase',
    query: NoQuery,
    handle: async (request) => {
      const body = checkBody(request);
      if (body.kind === 'problem') return body;
      const { reference, note = null } = body.value;
      const creditsMicros = body.amounts.get('credits');
      assertInvariant(
        creditsMicros !== undefined,
        'a purchase that passed validation has the amount `credits`',
      );
      const tenantId = fromWireId('tnt', body.value.tenantId);
      if (tenantId === undefined) return notFound;
      const usdMicros = body.amounts.get('usd') ?? null;
      return purchase(deps, request, { tenantId, creditsMicros, reference, usdMicros, note });
    },
  });
}

async function purchase(
  deps: GatewayDeps,
  { operator: { operatorId }, requestId }: OperatorRequest,
  bought: Omit<Grant, 'purchaseId'>,
): Promise<Answer> {
  const purchaseId = deps.newId();
  const grant = { ...bought, purchaseId };
  const by = { actor: { kind: 'operator', id: operatorId }, requestId } as const;
  const outcome = await grantCredits(deps.store, grant, by);
  switch (outcome.kind) {
    case 'granted':
    case 'repeated': {
      const body: PurchaseAnswer = {
        purchaseId: toWireId('pur', outcome.purchaseId),
        tenantId: toWireId('tnt', grant.tenantId),
        credits: creditsToNumber(grant.creditsMicros),
        balance: { after: creditsToNumber(outcome.availableAfterMicros) },
      };
      return outcome.kind === 'granted'
        ? json(201, body)
        : json(200, { ...body, idempotent: true } satisfies PurchaseAnswer);
    }
    case 'reference_conflict':
      return problem(
        'reference_conflict',
        'A purchase with other contents already has this reference. Use a new reference for a new purchase.',
      );
    case 'unknown_tenant':
      return notFound;
    case 'balance_too_large':
      return validationProblem([
        {
          path: '/credits',
          message: 'must keep the balance below 10^9 credits',
          keyword: 'maximum',
        },
      ]);
    default:
      return assertNever(outcome);
  }
}
