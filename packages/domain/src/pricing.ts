import { assertInvariant } from './assert.ts';
import { creditsMicrosMax } from './credits.ts';
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  decimalOfMicros,
  multiplyDecimals,
  roundHalfUpToMicros,
} from './decimal.ts';
import { findRate, type Rate, type RateCard, type Tier } from './rate-card.ts';
import { secondsOfMs, type Usage, usageUnits } from './usage.ts';

/**
 * The formulas of CONTRACT 4. A price is computed exactly and rounded half up once, at the end, to
 * whole micro-credits.
 */

export const surgeNoneMicros = 1_000_000n;

function priced(amount: Decimal, rate: Rate, surgeMicros: bigint): bigint {
  const multiplier = multiplyDecimals(
    decimalOfMicros(rate.tierMultiplierMicros),
    decimalOfMicros(surgeMicros),
  );
  return roundHalfUpToMicros(multiplyDecimals(amount, multiplier));
}

function atMost(amount: Decimal, bound: Decimal): Decimal {
  return compareDecimals(amount, bound) > 0 ? bound : amount;
}

/** `quote.max`, the worst case, in micro-credits. It is the amount that a submission holds. */
export function maxCharge(rate: Rate, surgeMicros: bigint): bigint {
  return priced(decimalOfMicros(rate.maxMicros), rate, surgeMicros);
}

/**
 * The price in micro-credits of completed work (CONTRACT 4). It is never above `maxCharge`. A unit
 * that has no weight or was not reported costs nothing.
 */
export function charge(rate: Rate, surgeMicros: bigint, usage: Usage): bigint {
  let sum = decimalOfMicros(rate.baseMicros);
  for (const unit of usageUnits) {
    const weightMicros = rate.weightsMicros[unit];
    const amount = usage[unit];
    if (weightMicros === undefined || amount === undefined) continue;
    assertInvariant(amount.digits >= 0n, 'usage is never negative');
    sum = addDecimals(sum, multiplyDecimals(decimalOfMicros(weightMicros), amount));
  }
  const minimum = decimalOfMicros(rate.minMicros);
  const raised = compareDecimals(sum, minimum) < 0 ? minimum : sum;
  return priced(atMost(raised, decimalOfMicros(rate.maxMicros)), rate, surgeMicros);
}

/**
 * The price in micro-credits of a run cancelled `nodeMs` after `begin` (CONTRACT 4). Only
 * node-seconds count, without the base and the minimum. The price is never above `maxCharge`.
 */
export function cancelCharge(rate: Rate, surgeMicros: bigint, nodeMs: bigint): bigint {
  assertInvariant(nodeMs >= 0n, 'the time of a run is never negative');
  const weight = decimalOfMicros(rate.weightsMicros.nodeSeconds ?? 0n);
  const cost = multiplyDecimals(weight, secondsOfMs(nodeMs));
  return priced(atMost(cost, decimalOfMicros(rate.maxMicros)), rate, surgeMicros);
}

/**
 * The amounts are in micro-credits, and the surge is in millionths. A quote keeps its surge and the
 * version of its rate card.
 */
export interface Quote {
  readonly estimatedMicros: bigint;
  readonly maxMicros: bigint;
  readonly surgeMicros: bigint;
  readonly rateCardVersion: number;
}

export type QuoteOutcome =
  | (Quote & { readonly kind: 'quoted' })
  | { readonly kind: 'quote_failed'; readonly reason: string };

/**
 * Quotes a submission (CONTRACT 4). Returns `quote_failed` if the card has no rate for the job type
 * and tier, or if `maxCharge` is above `creditsMicrosMax`.
 */
export function quote(
  card: RateCard,
  request: {
    readonly jobType: string;
    readonly tier: Tier;
    readonly surgeMicros: bigint;
    /** The average usage of the job type. Without it, the card's defaults are used. */
    readonly typicalUsage?: Usage | null | undefined;
  },
): QuoteOutcome {
  const rate = findRate(card, request.jobType, request.tier);
  if (rate === undefined) {
    return { kind: 'quote_failed', reason: 'No rate is in force for this job type and tier.' };
  }
  const { surgeMicros } = request;
  const maxMicros = maxCharge(rate, surgeMicros);
  if (maxMicros > creditsMicrosMax) {
    return {
      kind: 'quote_failed',
      reason: 'The maximum price is above the largest amount that the service supports.',
    };
  }
  const defaults = card.jobTypes.find((entry) => entry.jobType === request.jobType)?.typicalUsage;
  const estimatedMicros = charge(rate, surgeMicros, request.typicalUsage ?? defaults ?? {});
  assertInvariant(estimatedMicros <= maxMicros, 'an estimate is never over the worst case');
  return {
    kind: 'quoted',
    estimatedMicros,
    maxMicros,
    surgeMicros,
    rateCardVersion: card.version,
  };
}
