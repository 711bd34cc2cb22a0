import { statementTypes } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Credits, Nullable, pageParameters, PageOf, Time, WireId } from './common.ts';

/** The answer of `GET /v1/credits/balance` (CONTRACT 5). `available` is `balance - held`. */
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

/** The query of `GET /v1/credits/transactions` (CONTRACT 5). */
export const TransactionsQuery = Type.Object(
  {
    type: Type.Optional(StatementType),
    submissionId: Type.Optional(WireId('sub')),
    ...pageParameters,
  },
  { additionalProperties: false },
);
export type TransactionsQuery = Static<typeof TransactionsQuery>;

/** One movement in the statement of a tenant. `amount` is always positive. */
export const Transaction = Type.Object({
  id: WireId('txn'),
  type: StatementType,
  amount: Credits,
  balanceAfter: Credits,
  heldAfter: Credits,
  availableAfter: Credits,
  submissionId: Nullable(WireId('sub')),
  /** Null unless the movement is a grant or its reversal. */
  reference: Nullable(Type.String()),
  createdAt: Time,
});
export type Transaction = Static<typeof Transaction>;

export const TransactionPage = PageOf(Transaction);
export type TransactionPage = Static<typeof TransactionPage>;
