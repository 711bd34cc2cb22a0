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
  store: Store,
  tenantId: string | null,
  limit: number,
): Promise<RateCardVersion[]> {
  const rows = await store.db.$queryRaw<{ version: number; card: unknown; created_at: Date }[]>`
    SELECT version, card, created_at FROM rate_cards
    WHERE tenant_id IS NOT DISTINCT FROM ${tenantId}::uuid ORDER BY version DESC LIMIT ${limit}`;
  return rows.map(({ version, card, created_at: createdAt }) => ({
    card: parseRateCard(version, card),
    tenantId,
    createdAt,
  }));
}
