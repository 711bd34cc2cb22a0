import { parseRateCard, type RateCard } from '@svc/domain';
import type { Store } from '../connection/store.ts';

export interface RateCardVersion {
  card: RateCard;
  /** Null: the default card. */
  tenantId: string | null;
  createdAt: Date;
}

/** The versions of the default card (`tenantId` null) or of a tenant's card, newest first. */
export async function listRateCards(
  { db }: Store,
  tenantId: string | null,
  limit: number,
): Promise<RateCardVersion[]> {
  const rows = await db.rateCard.findMany({
    where: { tenantId },
    orderBy: { version: 'desc' },
    take: limit,
  });
  return rows.map(({ version, card, createdAt }) => ({
    card: parseRateCard(version, card),
    tenantId,
    createdAt,
  }));
}
