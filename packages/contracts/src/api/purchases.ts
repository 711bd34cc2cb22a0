import {
  awaitSecondsMax,
  intentStatuses,
  purchaseNoteLengthMax,
  purchaseReferenceLengthMax,
} from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Credits, creditsMax, Nullable, Time, Usdc, WireId } from './common.ts';

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

/**
 * The body of `POST /v1/credits/purchase-intents` (CONTRACT 8). This schema has no maximum for
 * `credits`, because the endpoint checks it.
 */
export const PurchaseIntentRequest = Type.Object(
  { credits: Type.Number({ exclusiveMinimum: 0 }), token: Type.Literal('USDC') },
  { additionalProperties: false },
);
export type PurchaseIntentRequest = Static<typeof PurchaseIntentRequest>;

/**
 * A transaction that the service recorded for a purchase intent. `at` is the time of recording.
 * Transactions after the intent's confirmation, or after its grace, are listed too.
 */
export const PurchasePayment = Type.Object({ signature: Type.String(), amount: Usdc, at: Time });

/** A purchase intent (CONTRACT 8). All members are always present. */
export const PurchaseIntentRecord = Type.Object({
  reference: Type.String(),
  solanaPayUrl: Type.String(),
  credits: Credits,
  amount: Usdc,
  token: Type.Literal('USDC'),
  status: Type.Enum(intentStatuses),
  paidAmount: Usdc,
  signature: Nullable(Type.String()),
  confirmedAt: Nullable(Time),
  payments: Type.Array(PurchasePayment),
  createdAt: Time,
  expiresAt: Time,
});
export type PurchaseIntentRecord = Static<typeof PurchaseIntentRecord>;

/** The query of `GET /v1/credits/purchase-intents/:reference/await` (CONTRACT 8). */
export const AwaitIntentQuery = Type.Object(
  {
    timeoutSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: awaitSecondsMax })),
  },
  { additionalProperties: false },
);
export type AwaitIntentQuery = Static<typeof AwaitIntentQuery>;
