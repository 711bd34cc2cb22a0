import { afterEach, beforeEach, expect, test } from 'vitest';
import { audit } from './housekeeping.ts';
import { createSettlementFixture, silent, type SettlementFixture } from './settlement.fixture.ts';

let fixture: SettlementFixture;
beforeEach(async () => {
  fixture = await createSettlementFixture();
});
afterEach(() => fixture.close());

test('the audit in the background says how many faults the ledger has', async () => {
  const counts: number[] = [];
  const { store, database } = fixture;
  const run = () =>
    audit({ store, logger: silent, setLedgerFaults: (count) => counts.push(count) });
  const tenantId = await fixture.tenant();
  await fixture.submission(tenantId, 'settling');
  await run();
  await database.query('UPDATE credit_accounts SET balance_micros = balance_micros + 1');
  await run();
  expect(counts).toEqual([0, 1]);
});
