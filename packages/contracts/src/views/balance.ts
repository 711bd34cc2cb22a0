import { creditsToNumber } from '@svc/domain';
import type { Balance } from '../api/credits.ts';

/** Makes the answer of `GET /v1/credits/balance` (CONTRACT 5). */
export function balanceAnswer(
  figures: {
    readonly balanceMicros: bigint;
    readonly heldMicros: bigint;
    readonly rebateAccruedMicros: bigint;
  },
  usdPerCreditMicros: bigint,
): Balance {
  const { balanceMicros, heldMicros, rebateAccruedMicros } = figures;
  return {
    balance: creditsToNumber(balanceMicros),
    held: creditsToNumber(heldMicros),
    available: creditsToNumber(balanceMicros - heldMicros),
    rebateAccrued: creditsToNumber(rebateAccruedMicros),
    currency: 'credits',
    usdPerCredit: creditsToNumber(usdPerCreditMicros),
  };
}
