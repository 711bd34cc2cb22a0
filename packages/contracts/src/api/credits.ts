import { statementTypes } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Credits, Nullable, pageParameters, PageOf, Time, WireId } from './common.ts';

/** `GET /v1/credits/balance` (CONTRACT 5): `available` is `balance - held`. */
export const Balance = Type.Object({
  balance: Credits,
  held: Credits,
  available: Credits,
  rebateAccrued: Credits,
  currency: Type.Literal('credits'),
  usdPerCredit: Type.Number(),
});
export type Balance = Static<typeof Balance>;

export const StatementType = Type.Enum(statementTypes);

/** `GET /v1/credits/transactions` (CONTRACT 5). */
export const TransactionsQuery = Type.Object(
  {
    type: Type.Optional(StatementType),
    submissionId: Type.Optional(WireId('sub')),
    ...pageParameters,
  },
  { additionalProperties: false },
);
export type TransactionsQuery = Static<typeof TransactionsQuery>;

/** One line of the statement. The amount is always positive; the other figures are those after it. */
export const Transaction = Type.Object({
  id: WireId('txn'),
  type: StatementType,
  amount: Credits,
  balanceAfter: Credits,
  heldAfter: Credits,
  availableAfter: Credits,
  submissionId: Nullable(WireId('sub')),
  reference: Nullable(Type.String()),
  createdAt: Time,
});
export type Transaction = Static<typeof Transaction>;

export const TransactionPage = PageOf(Transaction);
export type TransactionPage = Static<typeof TransactionPage>;
