import {
  creditsMicrosMax,
  creditsToNumber,
  type IdPrefix,
  pageLimitDefault,
  pageLimitMax,
  tiers,
} from '@svc/domain';
import { Type, type Static, type TSchema } from 'typebox';

/**
 * Schemas that several endpoints share. The schemas of answers allow additional members, because v1
 * may add members at any time (CONTRACT 0).
 */

export const Credits = Type.Number({
  description: 'The unit is credits, with at most six decimals.',
});

export const Usdc = Type.Number({ description: 'The unit is USDC, with at most six decimals.' });

/**
 * The largest amount of credits is 999,999,999.999999, because a JavaScript number keeps fifteen
 * digits exactly.
 */
export const creditsMax = creditsToNumber(creditsMicrosMax);

/** A TypeID: a prefix and a UUIDv7 in 26 characters of base32. */
export function WireId(prefix: IdPrefix) {
  return Type.String({ pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$` });
}

/** An RFC 3339 time in UTC with milliseconds. */
export const Time = Type.String({ format: 'date-time' });

export const Tier = Type.Enum(tiers);

export const QuoteFigures = Type.Object({
  estimated: Credits,
  max: Credits,
  surge: Type.Number(),
});

export const RefundFigures = Type.Object({ amount: Credits, charged: Credits });

/**
 * In a usage, a unit is omitted if it was not reported. In `weights`, a unit is omitted if the rate
 * card has no weight for it.
 */
const UsageAmount = Type.Optional(Type.Number());
export const UsageFigures = Type.Object({
  nodeSeconds: UsageAmount,
  cpuSeconds: UsageAmount,
  memoryGbSeconds: UsageAmount,
  bandwidthMb: UsageAmount,
  actions: UsageAmount,
});
export type UsageFigures = Static<typeof UsageFigures>;

export function Nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** The name of the format for times in a query: RFC 3339, any offset, at most three decimals. */
export const queryTimeFormat = 'query-time';
export const QueryTime = Type.String({ format: queryTimeFormat });

const cursorLengthMax = 128;

/** The query parameters `limit` and `cursor` of a list that has pages (CONTRACT 5, "Pages"). */
export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: pageLimitMax, default: pageLimitDefault }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: cursorLengthMax,
      description: '`nextCursor` of the previous page.',
    }),
  ),
};

/** One page of a list, newest first. `nextCursor` is null on the last page. */
export function PageOf<Item extends TSchema>(item: Item) {
  return Type.Object({ data: Type.Array(item), nextCursor: Nullable(Type.String()) });
}

export const NoQuery = Type.Object({}, { additionalProperties: false });
