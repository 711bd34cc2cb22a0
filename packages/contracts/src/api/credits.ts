import { Type, type Static } from 'typebox';
import { Credits } from './common.ts';

/** `GET /v1/credits/balance` (SPEC 2.5): `available` is `balance - held`. */
export const Balance = Type.Object({
  balance: Credits,
  held: Credits,
  available: Credits,
  rebateAccrued: Credits,
  currency: Type.Literal('credits'),
  usdPerCredit: Type.Number(),
});
export type Balance = Static<typeof Balance>;
