import { assertInvariant, dispatchDeadlineMs, parseRateCard, type RateCard } from '@svc/domain';
import { answeredWithin } from '../connection/calls.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';

/**
 * If a store would have more rate cards than this in memory, only the newly read ones stay. Two
 * versions of a card count as two.
 */
const knownCardsMax = 1_000;

const knownCards = new WeakMap<Store, Map<number, RateCard>>();

const cardsSql = 'SELECT version, card FROM rate_cards WHERE version = ANY($1::int[])';

/**
 * The rate card of one version, from memory if it is kept there. Throws if the version does not
 * exist, or if Postgres does not answer within `dispatchDeadlineMs`.
 */
export async function rateCardOfVersion(store: Store, version: number): Promise<RateCard> {
  const known = knownCards.get(store)?.get(version);
  if (known !== undefined) return known;
  const asked = pinnedCards(store, store.query, [version]);
  const card = (await answeredWithin(dispatchDeadlineMs, asked))(version);
  assertInvariant(
    card !== undefined,
    'the table rate_cards has every version to which a tenant refers',
  );
  return card;
}

/**
 * Reads the rate cards of `versions`. The returned function gives the card of a version. It returns
 * undefined if the version does not exist or is not in `versions`.
 */
export async function pinnedCards(
  store: Store,
  query: Query,
  versions: readonly number[],
): Promise<(version: number) => RateCard | undefined> {
  const known = knownCards.get(store) ?? new Map<number, RateCard>();
  knownCards.set(store, known);
  const cards = new Map(versions.map((version) => [version, known.get(version)]));
  const missing = [...cards.keys()].filter((version) => !known.has(version));
  if (missing.length > 0) {
    const rows = await query<{ version: number; card: unknown }>(cardsSql, [missing]);
    if (known.size + rows.length > knownCardsMax) known.clear();
    for (const row of rows) {
      const card = parseRateCard(row.version, row.card);
      // The card of a version never changes, so it can stay in memory.
      known.set(row.version, card);
      cards.set(row.version, card);
    }
  }
  return (version) => cards.get(version);
}
