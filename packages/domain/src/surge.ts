import { surgeNoneMicros } from './pricing.ts';

/**
 * The largest surge, in millionths. Surge depends on how busy the fleet is (CONTRACT 4, last rule).
 */
export const surgeMaxMicros = 3_000_000n;
const surgeStepMicros = 50_000n;
const smoothingMs = 30_000n;

/**
 * The value that surge moves towards, in millionths. It is 1 while at most 70 % of the connected
 * slots are busy or no slot is connected. Above 70 % it rises linearly to 3 at 100 %.
 */
export function surgeTarget(slotsTotal: number, slotsBusy: number): bigint {
  if (slotsTotal <= 0) return surgeNoneMicros;
  const total = BigInt(slotsTotal);
  const busy = BigInt(Math.min(Math.max(slotsBusy, 0), slotsTotal));
  const overTenths = 10n * busy - 7n * total;
  if (overTenths <= 0n) return surgeNoneMicros;
  return surgeNoneMicros + ((surgeMaxMicros - surgeNoneMicros) * overTenths) / (3n * total);
}

/**
 * Makes one smoothing step from `currentMicros` to `targetMicros`. The step covers the fraction
 * `elapsedMs` / 30 s of the distance, but at most all of it. The next step continues from this
 * result, but prices use the result rounded by `steppedSurge`.
 */
export function smoothSurge(input: {
  readonly currentMicros: bigint;
  readonly targetMicros: bigint;
  readonly elapsedMs: number;
}): bigint {
  const elapsed = BigInt(Math.max(0, Math.round(input.elapsedMs)));
  if (elapsed >= smoothingMs) return input.targetMicros;
  return input.currentMicros + ((input.targetMicros - input.currentMicros) * elapsed) / smoothingMs;
}

/**
 * Rounds to the nearest step of 0.05, halves upwards. Limits the result to the range from 1 to 3.
 */
export function steppedSurge(smoothedMicros: bigint): bigint {
  const stepped = ((smoothedMicros + surgeStepMicros / 2n) / surgeStepMicros) * surgeStepMicros;
  if (stepped < surgeNoneMicros) return surgeNoneMicros;
  return stepped > surgeMaxMicros ? surgeMaxMicros : stepped;
}
