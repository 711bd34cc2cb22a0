import { Type } from 'typebox';
import { AwaitIntentQuery, PurchaseAnswer, PurchaseRequest } from '../api/purchases.ts';
import * as examples from './examples.ts';
import type { OperationDefinition } from './operation.ts';

/** The Solana rail is not implemented. Every call is answered 409 without a check of its body. */
const PurchaseIntentRequest = Type.Object({
  credits: Type.Number({ exclusiveMinimum: 0 }),
  token: Type.Literal('USDC'),
});

const reference = {
  schema: Type.String(),
  description: 'The `reference` of the intent.',
  example: '7dHbWXmci3dT8UFYWYZweBLXgycu7Y3iL6trKn1Y7ARj',
};

const off = 'Answers `409 solana_disabled` if the Solana rail is not enabled.';

export const purchaseOperations: readonly OperationDefinition[] = [
  {
    operationId: 'createPurchase',
    method: 'post',
    path: '/v1/credits/purchase',
    tag: 'Purchases',
    summary: 'Grant purchased credits',
    description:
      'An operator must sign it; a tenant gets `403 operator_only`. `reference` is the idempotency key: a repeat of the same purchase is `200` with `idempotent: true`, and a different purchase with the same reference is `409`.',
    access: 'operator',
    request: {
      schema: PurchaseRequest,
      examples: {
        purchase: {
          tenantId: examples.tenantId,
          credits: 5000,
          reference: 'invoice-2026-0117',
          usd: 50,
        },
      },
    },
    answers: {
      201: {
        description: 'The credits were granted.',
        schema: PurchaseAnswer,
        example: examples.purchase,
      },
      200: {
        description: 'A replay: the credits had been granted before.',
        schema: PurchaseAnswer,
        example: { ...examples.purchase, idempotent: true },
      },
    },
    errors: ['unsupported_media_type', 'operator_only', 'not_found', 'reference_conflict'],
  },
  {
    operationId: 'createPurchaseIntent',
    method: 'post',
    path: '/v1/credits/purchase-intents',
    tag: 'Purchases',
    summary: 'Ask to pay for credits in USDC',
    description: off,
    access: 'tenant',
    request: {
      schema: PurchaseIntentRequest,
      examples: { intent: { credits: 5000, token: 'USDC' } },
    },
    answers: {},
    errors: ['solana_disabled'],
  },
  {
    operationId: 'getPurchaseIntent',
    method: 'get',
    path: '/v1/credits/purchase-intents/:reference',
    tag: 'Purchases',
    summary: 'Read a purchase intent',
    description: off,
    access: 'tenant',
    pathParameters: { reference },
    answers: {},
    errors: ['solana_disabled', 'not_found'],
  },
  {
    operationId: 'awaitPurchaseIntent',
    method: 'get',
    path: '/v1/credits/purchase-intents/:reference/await',
    tag: 'Purchases',
    summary: 'Wait for the payment of a purchase intent',
    description: `Answers once the payment is confirmed, or after \`timeoutSeconds\`. ${off}`,
    access: 'tenant',
    pathParameters: { reference },
    query: AwaitIntentQuery,
    answers: {},
    errors: ['solana_disabled', 'intent_expired', 'intent_failed', 'not_found'],
  },
];
