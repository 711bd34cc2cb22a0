import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { pinnedCards, rateCardOfVersion } from './pinned-cards.ts';

test('a card in memory is found although other cards displace it during the look-up', async () => {
  const { store } = await createFixture();
  await store.query(
    `INSERT INTO rate_cards (version, card, created_at)
     SELECT 1 + i, card, created_at FROM rate_cards, generate_series(1, 1001) i WHERE version = 1`,
    [],
  );
  const card = await rateCardOfVersion(store, 1);
  const displacing = Array.from({ length: 1_000 }, (_, index) => 3 + index);
  const cardOf = await pinnedCards(
    store,
    async (...query: Parameters<typeof store.query>) => {
      await pinnedCards(store, store.query, displacing);
      return store.query(...query);
    },
    [1, 2],
  );
  expect(cardOf(1)).toBe(card);
  expect(cardOf(2)?.version).toBe(2);
  expect(await rateCardOfVersion(store, 1)).not.toBe(card);
});
