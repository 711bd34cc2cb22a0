import type { OfferAnswer, OfferRecord } from '@svc/domain';

/**
 * An offer of a submission as it is stored. An array takes half the bytes of an object in the row
 * and in the WAL (decision 49).
 */
export type StoredOffer = readonly [
  offerId: string,
  nodeId: string,
  answer: OfferAnswer,
  offeredAtMs: number,
  answeredAfterMs: number,
  reason?: string,
];

export function textOfOffers(records: readonly OfferRecord[]): string {
  return JSON.stringify(records.map(storedOf));
}

function storedOf({ offerId, nodeId, answer, offeredAt, ...more }: OfferRecord): StoredOffer {
  const offeredAtMs = Date.parse(offeredAt);
  const answeredAfterMs = Date.parse(more.answeredAt) - offeredAtMs;
  const stored = [offerId, nodeId, answer, offeredAtMs, answeredAfterMs] as const;
  return more.reason === undefined ? stored : [...stored, more.reason];
}

export function offersOfStored(stored: readonly StoredOffer[]): OfferRecord[] {
  return stored.map(([offerId, nodeId, answer, offeredAtMs, answeredAfterMs, reason]) => ({
    offerId,
    nodeId,
    answer,
    ...(reason === undefined ? {} : { reason }),
    offeredAt: new Date(offeredAtMs).toISOString(),
    answeredAt: new Date(offeredAtMs + answeredAfterMs).toISOString(),
  }));
}
