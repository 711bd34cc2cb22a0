import { leaseMs } from '@svc/domain';
import { silent } from '@svc/startup/fixture';
import { cancelSubmission, readDeadLetters } from '@svc/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { purge } from './purge.ts';
import { reconcile } from './reconcile.ts';
import { createSettlementFixture, type SettlementFixture } from './settlement.fixture.ts';

let fixture: SettlementFixture;
beforeEach(async () => {
  fixture = await createSettlementFixture();
});
afterEach(() => fixture.close());

test('a pass purges everything that is due, page by page, and counts it', async () => {
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

test('a submission that cannot be purged blocks no other and is retried with backoff', async () => {
  const { store, database } = fixture;
  const tenantId = await fixture.tenant();
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const submissionId = await fixture.submission(tenantId, 'running');
    ids.push(submissionId);
  }
  await fixture.advance(leaseMs);
  await reconcile(fixture.deps);
  // The purge must unseal an event to remove its failure message. It cannot unseal this damaged
  // event, so it cannot purge the event's submission.
  await database.query(`UPDATE events SET body_sealed = '\\x00' WHERE submission_id = $1`, [
    ids[0],
  ]);
  await fixture.advance(10 * 24 * 3_600_000);
  const round = () =>
    purge({ store, logger: silent, retentionDays: 9, countPurged: () => {}, pageMax: 2 });
  await expect(round()).rejects.toThrow('1 submissions could not be purged');
  const left = await database.query<{ id: string }>(
    'SELECT id FROM submissions WHERE payload_sealed IS NOT NULL',
  );
  expect(left.map(({ id }) => id)).toEqual([ids[0]]);
  await round();
  expect((await readDeadLetters(store, 10)).retrying).toBe(1);
});
