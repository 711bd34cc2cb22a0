import { isDeepStrictEqual } from 'node:util';
import { parseRateCard, rateJsonOf } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Receipt } from './receipts.ts';

/** The most cards of a tenant, and default cards, that are compared with the prices of a quote. */
const comparedMax = 1_000;

interface CardRow {
  readonly version: number;
  readonly card: unknown;
  readonly is_older: boolean;
}

/**
 * The version of a card by which this database can charge what was quoted. Null if it has none. The
 * number alone proves nothing: after a restore, another card may have got it.
 */
export async function findQuotedCard(query: Query, receipt: Receipt): Promise<number | null> {
  const { tenantId, jobType, tier, rate, rateCardVersion, createdAt } = receipt;
  const rows = await query<CardRow>(
    `SELECT version, card, created_at <= $3::timestamptz AS is_older FROM rate_cards
     WHERE version = $1 OR tenant_id = $2::uuid OR tenant_id IS NULL
     ORDER BY version <> $1, version DESC LIMIT ${comparedMax}`,
    [rateCardVersion, tenantId, createdAt],
  );
  // An older receipt has no prices. A card that was there before the submission was created is in
  // the backup, so it is the card of the quote.
  const isQuoted = ({ version, card, is_older }: CardRow): boolean =>
    rate === undefined
      ? version === rateCardVersion && is_older
      : isDeepStrictEqual(rateJsonOf(parseRateCard(version, card), jobType, tier), rate);
  return rows.find(isQuoted)?.version ?? null;
}
