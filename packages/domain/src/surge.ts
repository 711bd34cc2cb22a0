import { surgeNoneMicros } from './pricing.ts';

/** Surge, in millionths, follows how busy the fleet is (CONTRACT 4, last rule). */
export const surgeMaxMicros = 3_000_000n;
const surgeStepMicros = 50_000n;
const smoothingMs = 30_000n;

/**
 * Where surge is heading: 1 up to 70 % of the connected slots busy (and with none connected), then
 * in a straight line to 3 at 100 %.
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
 * One step of the smoothing: from `currentMicros` towards `targetMicros` by the share of 30 s that
 * `elapsedMs` is. The result is carried on; `steppedSurge` of it is what is charged.
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

/** The nearest step of 0.05, halves upwards, and never outside 1 to 3. */
export function steppedSurge(smoothedMicros: bigint): bigint {
  const stepped = ((smoothedMicros + surgeStepMicros / 2n) / surgeStepMicros) * surgeStepMicros;
  if (stepped < surgeNoneMicros) return surgeNoneMicros;
  return stepped > surgeMaxMicros ? surgeMaxMicros : stepped;
}
