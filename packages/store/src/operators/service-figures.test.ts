import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { readServiceFigures } from './service-figures.ts';

test('all tenants together may hold more than the largest balance of one', async () => {
  const { store, tenant, hold } = await createFixture();
  for (const key of ['one', 'two'])
    await hold(await tenant(900_000_000), { key, max: 800_000_000 });
  expect(await readServiceFigures(store)).toMatchObject({ heldCredits: 1_600_000_000 });
});
