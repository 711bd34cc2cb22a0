import { Type } from 'typebox';
import {
  AwaitIntentQuery,
  PurchaseAnswer,
  PurchaseIntentRecord,
  PurchaseIntentRequest,
  PurchaseRequest,
} from '../api/purchases.ts';
import * as examples from './annotations/examples.ts';
import type { OperationDefinition } from './operation.ts';

const reference = {
  schema: Type.String(),
  description: 'The `reference` of the intent.',
  example: examples.solanaReference,
};

const off = 'Answers `409 solana_disabled` if the Solana rail is not enabled.';

const read = {
  description: 'The purchase intent.',
  schema: PurchaseIntentRecord,
  example: examples.purchaseIntent,
};

export const purchaseOperations: readonly OperationDefinition[] = [
  {
    operationId: 'createPurchase',
    method: 'post',
    path: '/v1/credits/purchase',
    tag: 'Purchases',
    summary: 'Grant purchased credits',
    description:
      'An operator must sign the request; a tenant gets `403 operator_only`. `reference` is the idempotency key: a repeat of the same purchase gets `200` with `idempotent: true`, and a different purchase with the same reference gets `409`.',
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
    summary: 'Create a purchase intent to buy credits with USDC',
    description: `\`solanaPayUrl\` is the Solana Pay URL, for a wallet. The credits are granted when finalized transactions that name \`reference\` have paid \`amount\`. ${off}`,
    access: 'tenant',
    request: {
      schema: PurchaseIntentRequest,
      examples: { intent: { credits: 5000, token: 'USDC' } },
    },
    answers: { 201: { ...read, description: 'The purchase intent was created.' } },
    errors: ['unsupported_media_type', 'solana_disabled', 'too_many_intents'],
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
    answers: { 200: read },
    errors: ['solana_disabled', 'not_found'],
  },
  {
    operationId: 'getPurchaseIntentQr',
    method: 'get',
    path: '/v1/credits/purchase-intents/:reference/qr.svg',
    tag: 'Purchases',
    summary: 'Show the QR code of a purchase intent',
    description: `The QR code of \`solanaPayUrl\`. ${off}`,
    access: 'tenant',
    pathParameters: { reference },
    answers: { 200: { description: 'The QR code.', texts: ['image/svg+xml'] } },
    errors: ['solana_disabled', 'not_found'],
  },
  {
    operationId: 'awaitPurchaseIntent',
    method: 'get',
    path: '/v1/credits/purchase-intents/:reference/await',
    tag: 'Purchases',
    summary: 'Wait for the payment of a purchase intent',
    description: `Answers \`200\` once the payment is confirmed, or after \`timeoutSeconds\` (default 30) if the intent is still pending. Answers \`409\` once the intent is expired or failed. An expired intent can still be paid in the grace time after its expiry. ${off}`,
    access: 'tenant',
    pathParameters: { reference },
    query: AwaitIntentQuery,
    answers: { 200: read },
    errors: ['solana_disabled', 'intent_expired', 'intent_failed', 'not_found'],
  },
  {
    operationId: 'payPage',
    method: 'get',
    path: '/pay/:reference',
    tag: 'Purchases',
    summary: 'Show the payment page of a purchase intent',
    description:
      'A page for the person who pays: amount, address, QR code, status and expiry. `404` if the reference is unknown or the Solana rail is not enabled.',
    access: 'open',
    pathParameters: { reference },
    answers: { 200: { description: 'The page.', texts: ['text/html'] } },
    errors: ['not_found', 'rate_limited', 'unavailable'],
  },
];
