import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { openCursor } from './cursors.ts';
import { createPurchaseIntent } from './intents.ts';
import { takeWatcherLease } from './lease.ts';
import { readWatcherFigures } from './operating.ts';

test('the lag counts from the intent until the watcher has a cursor, then from the cursor', async () => {
  const { store, tenant, advance } = await createFixture();
  const lagSeconds = async () => Math.round((await readWatcherFigures(store)).lagSeconds);
  const terms = { tokenAccount: 'token-account', mint: 'mint' };
  expect(await lagSeconds()).toBe(0);
  await createPurchaseIntent(store, {
    reference: 'reference',
    tenantId: await tenant(0),
    creditsMicros: 1_000_000n,
    amountUsdcMicros: 10_000n,
    usdPerCreditMicros: 10_000n,
    recipient: 'recipient',
    ...terms,
    minutes: { intent: 60, grace: 1_440 },
  });
  await advance(90_000);
  expect(await lagSeconds()).toBe(90);
  const lease = await takeWatcherLease(store, { holder: 'test', leaseMs: 600_000 });
  await openCursor(store, lease?.epoch ?? 0n, { ...terms, signature: null, slot: 0 });
  expect(await lagSeconds()).toBe(0);
  await advance(30_000);
  expect(await lagSeconds()).toBe(30);
});
