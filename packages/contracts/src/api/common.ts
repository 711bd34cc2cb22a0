import { type IdPrefix, tiers } from '@svc/domain';
import { Type, type Static } from 'typebox';

/** Parts that several endpoints share. Answers are open: v1 is additive (SPEC section 9). */

/** Credits on the wire: a JSON number with at most six decimals. */
export const Credits = Type.Number({ description: 'Credits, at most six decimals.' });

/** A TypeID: the prefix, and a UUIDv7 in 26 characters of base32. */
export function WireId(prefix: IdPrefix) {
  return Type.String({ pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$` });
}

/** RFC 3339, UTC, with milliseconds. */
export const Time = Type.String({ format: 'date-time' });

export const Tier = Type.Enum(tiers);

export const QuoteFigures = Type.Object({
  estimated: Credits,
  max: Credits,
  surge: Type.Number(),
});

export const RefundFigures = Type.Object({ amount: Credits, charged: Credits });

/** An amount per unit of usage; units that were not reported are left out. */
const UsageAmount = Type.Optional(Type.Number());
export const UsageFigures = Type.Object({
  nodeSeconds: UsageAmount,
  cpuSeconds: UsageAmount,
  memoryGbSeconds: UsageAmount,
  bandwidthMb: UsageAmount,
  actions: UsageAmount,
});
export type UsageFigures = Static<typeof UsageFigures>;
