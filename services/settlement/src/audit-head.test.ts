import { afterEach, beforeEach, expect, test } from 'vitest';
import { sealHead } from './audit-head.ts';
import { createSettlementFixture, silent, type SettlementFixture } from './settlement.fixture.ts';

let fixture: SettlementFixture;
beforeEach(async () => {
  fixture = await createSettlementFixture();
});
afterEach(() => fixture.close());

test('the end of the audit log is sealed, and a tampered log is a metric until somebody looks', async () => {
  const counts: number[] = [];
  const { store, database } = fixture;
  const run = () =>
    sealHead({ store, logger: silent, setAuditFaults: (count) => counts.push(count) });
  await fixture.tenant();
  await run();
  const [head] = await database.query<{ position: string }>('SELECT position FROM audit_head');
  expect(Number(head?.position)).toBeGreaterThan(0);
  await database.query('ALTER TABLE audit_log DISABLE TRIGGER USER');
  await database.query('ALTER TABLE audit_chain DISABLE TRIGGER USER');
  await database.query('DELETE FROM audit_chain');
  await database.query('DELETE FROM audit_log');
  await run();
  await run();
  expect(counts).toEqual([0, 1, 1]);
});
