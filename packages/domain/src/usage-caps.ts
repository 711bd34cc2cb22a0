import {
  addDecimals,
  compareDecimals,
  type Decimal,
  decimalOf,
  multiplyDecimals,
} from './decimal.ts';
import { secondsOfMs, type Usage, type UsageUnit, usageUnits } from './usage.ts';

/**
 * The units that have a cap. `nodeSeconds` has none, because the store limits it to the time since
 * `begin`.
 */
export type CappedUnit = Exclude<UsageUnit, 'nodeSeconds'>;

/**
 * The cap of a unit after a run of t seconds is (`perSecond` × t + `allowance`) × the `factor` of
 * `capUsage` (CONTRACT 7).
 */
export interface UsageCap {
  readonly perSecond: number;
  readonly allowance: number;
}

/** The cap of each unit. It is far above what a browser on a machine at home uses. */
export const usageCaps: Readonly<Record<CappedUnit, UsageCap>> = {
  cpuSeconds: { perSecond: 32, allowance: 5 },
  memoryGbSeconds: { perSecond: 64, allowance: 5 },
  bandwidthMb: { perSecond: 250, allowance: 50 },
  actions: { perSecond: 50, allowance: 100 },
};

export interface CappedUsage {
  readonly usage: Usage;
  readonly isCapped: boolean;
}

function capOf({ perSecond, allowance }: UsageCap, elapsedMs: bigint, factor: Decimal): Decimal {
  const grown = multiplyDecimals(decimalOf(BigInt(perSecond), 0), secondsOfMs(elapsedMs));
  return multiplyDecimals(addDecimals(grown, decimalOf(BigInt(allowance), 0)), factor);
}

/** Replaces each amount above its cap with the cap. `factor` multiplies every cap. */
export function capUsage(usage: Usage, elapsedMs: bigint, factor: Decimal): CappedUsage {
  const capped: Usage = {};
  let isCapped = false;
  for (const unit of usageUnits) {
    const amount = usage[unit];
    if (amount === undefined) continue;
    const cap = unit === 'nodeSeconds' ? amount : capOf(usageCaps[unit], elapsedMs, factor);
    const isAbove = compareDecimals(amount, cap) > 0;
    capped[unit] = isAbove ? cap : amount;
    isCapped ||= isAbove;
  }
  return { usage: capped, isCapped };
}
