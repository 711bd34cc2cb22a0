import { surgeNoneMicros } from './pricing.ts';

/**
 * The largest surge, in millionths. Surge depends on how busy the fleet is (CONTRACT 4, last rule).
 */
export const surgeMaxMicros = 3_000_000n;
const surgeStepMicros = 50_000n;
const smoothingMs = 30_000n;

/** The value that surge moves towards, in millionths (CONTRACT 4, last rule). */
export function surgeTarget(slotsTotal: number, slotsBusy: number): bigint {
  if (slotsTotal <= 0) return surgeNoneMicros;
  const total = BigInt(slotsTotal);
  const busy = BigInt(Math.min(Math.max(slotsBusy, 0), slotsTotal));
  const overTenths = 10n * busy - 7n * total;
  if (overTenths <= 0n) return surgeNoneMicros;
  return surgeNoneMicros + ((surgeMaxMicros - surgeNoneMicros) * overTenths) / (3n * total);
}

/**
 * Moves surge one smoothing step towards the target. The next step continues from the result, but
 * prices use the result rounded by `steppedSurge`.
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
