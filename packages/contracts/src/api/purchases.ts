import { purchaseNoteLengthMax, purchaseReferenceLengthMax } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Credits, creditsMax, WireId } from './common.ts';

/** The body of `POST /v1/credits/purchase` (CONTRACT 5). Amounts have at most six decimals. */
export const PurchaseRequest = Type.Object(
  {
    tenantId: Type.String(),
    credits: Type.Number({ exclusiveMinimum: 0, maximum: creditsMax }),
    /** The idempotency key of the purchase. It never expires. */
    reference: Type.String({ minLength: 1, maxLength: purchaseReferenceLengthMax }),
    usd: Type.Optional(Type.Number({ minimum: 0, maximum: creditsMax })),
    note: Type.Optional(Type.String({ maxLength: purchaseNoteLengthMax })),
  },
  { additionalProperties: false },
);
export type PurchaseRequest = Static<typeof PurchaseRequest>;

export const PurchaseAnswer = Type.Object({
  purchaseId: WireId('pur'),
  tenantId: WireId('tnt'),
  credits: Credits,
  balance: Type.Object({ after: Credits }),
  idempotent: Type.Optional(Type.Literal(true)),
});
export type PurchaseAnswer = Static<typeof PurchaseAnswer>;

const awaitTimeoutSecondsMax = 60;

/** `GET /v1/credits/purchase-intents/:reference/await` (CONTRACT 8). */
export const AwaitIntentQuery = Type.Object(
  {
    timeoutSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: awaitTimeoutSecondsMax })),
  },
  { additionalProperties: false },
);
export type AwaitIntentQuery = Static<typeof AwaitIntentQuery>;
