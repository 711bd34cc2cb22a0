import { cancelSubmission } from '@svc/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { purge } from './purge.ts';
import { createSettlementFixture, silent, type SettlementFixture } from './settlement.fixture.ts';

let fixture: SettlementFixture;
beforeEach(async () => {
  fixture = await createSettlementFixture();
});
afterEach(() => fixture.close());

test('a round purges everything that is due, page by page, and counts it', async () => {
  const { store, database } = fixture;
  const tenantId = await fixture.tenant();
  for (let n = 0; n < 5; n += 1) {
    const submissionId = await fixture.submission(tenantId, 'pending');
    await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  }
  await fixture.advance(10 * 24 * 3_600_000);
  const counts: number[] = [];
  const countPurged = (count: number) => void counts.push(count);
  const round = (retentionDays: number) =>
    purge({ store, logger: silent, retentionDays, countPurged, pageMax: 2 });
  await round(11);
  expect(counts.splice(0)).toEqual([0]);
  await round(9);
  expect(counts).toEqual([2, 2, 1]);
  const left = await database.query('SELECT 1 FROM submissions WHERE payload_sealed IS NOT NULL');
  expect(left).toEqual([]);
});
