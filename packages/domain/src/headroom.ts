import { assertInvariant } from './assert.ts';
import type { Tier } from './rate-card.ts';

/** The share of slots, in hundredths, that a tier leaves free for more expensive tiers. */
const reservedHundredths: Readonly<Record<Tier, number>> = {
  standard: 10,
  priority: 3,
  instant: 0,
};

/**
 * True if the tier may take a free slot (CONTRACT 7). `slotsTotal` counts the connected slots of
 * the job type. Throws InvariantError if a number is not whole.
 */
export function hasHeadroom(tier: Tier, slotsTotal: number, slotsFree: number): boolean {
  assertInvariant(
    Number.isInteger(slotsTotal) && Number.isInteger(slotsFree),
    'the numbers of slots are whole',
  );
  return slotsFree > Math.floor((slotsTotal * reservedHundredths[tier]) / 100);
}
