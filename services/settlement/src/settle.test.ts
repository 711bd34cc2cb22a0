import { createConsumer, type Producer } from '@svc/queue';
import { silent } from '@svc/startup/fixture';
import { deadLetterFailures, readDeadLetters, settle, unsettledGraceMs } from '@svc/store';
import { openRotated } from '@svc/store/fixture';
import { waitUntil } from '@svc/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { reconcile } from './reconcile.ts';
import { settleSubmissions } from './settle.ts';
import {
  createSettlementFixture,
  grantedCredits,
  type SettlementFixture,
} from './settlement.fixture.ts';

let fixture: SettlementFixture;

beforeAll(async () => {
  fixture = await createSettlementFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  fixture.counted.length = 0;
  await fixture.redis.flush();
});

async function announcedTenants(count: number): Promise<string[]> {
  const ids: string[] = [];
  const consumer = createConsumer({
    redisUrl: fixture.redis.redisUrl,
    prefix: 'test',
    queue: 'webhook',
    logger: silent,
    handle: async ({ tenantIds }) => void ids.push(...tenantIds),
  });
  try {
    await waitUntil(() => ids.length >= count);
    return ids;
  } finally {
    await consumer.close();
  }
}

async function deliveryIdsOf(submissionIds: readonly string[]): Promise<string[]> {
  const rows = await fixture.database.query<{ id: string }>(
    'SELECT d.id FROM deliveries d JOIN events e ON e.id = d.event_id WHERE e.submission_id = ANY($1)',
    [submissionIds],
  );
  return rows.map(({ id }) => id);
}

test('a stored outcome is charged, the rest is released, and its event is enqueued', async () => {
  const tenantId = await fixture.tenant({ webhookUrl: 'https://hooks.example.com/' });
  const submissionId = await fixture.submission(tenantId, 'settling');
  await settleSubmissions(fixture.deps, [submissionId]);
  expect((await fixture.stateOf(submissionId)).state).toBe('submitted');
  expect(await fixture.figures(tenantId)).toEqual({ balance: grantedCredits - 25, held: 0 });
  expect(await deliveryIdsOf([submissionId])).toHaveLength(1);
  expect(await announcedTenants(1)).toEqual([tenantId]);
  expect(fixture.counted).toEqual(['submitted']);
});

test('settling again, also at the same time, changes nothing', async () => {
  const tenantId = await fixture.tenant({ webhookUrl: 'https://hooks.example.com/' });
  const submissionIds = await Promise.all(
    [1, 2, 3, 4].map(() => fixture.submission(tenantId, 'settling')),
  );
  await Promise.all([1, 2, 3].map(() => settleSubmissions(fixture.deps, submissionIds)));
  await settleSubmissions(fixture.deps, submissionIds.toReversed());
  expect(await fixture.figures(tenantId)).toEqual({ balance: grantedCredits - 100, held: 0 });
  expect(await deliveryIdsOf(submissionIds)).toHaveLength(4);
  expect(fixture.counted).toEqual(['submitted', 'submitted', 'submitted', 'submitted']);
});

test('a submission that cannot be settled or does not exist is left unchanged', async () => {
  const tenantId = await fixture.tenant();
  const running = await fixture.submission(tenantId, 'running');
  await settleSubmissions(fixture.deps, [running, '00000000-0000-7000-8000-000000000000']);
  await settleSubmissions(fixture.deps, []);
  expect((await fixture.stateOf(running)).state).toBe('running');
  expect(fixture.counted).toEqual([]);
});

test('a submission that cannot be settled fails alone, and is returned', async () => {
  const tenantId = await fixture.tenant({ webhookUrl: 'https://hooks.example.com/' });
  const [good, broken, last] = [
    await fixture.submission(tenantId, 'settling'),
    await fixture.submission(tenantId, 'settling'),
    await fixture.submission(tenantId, 'settling'),
  ];
  // This sealed outcome cannot be decrypted. The tenant's event needs its failure message, so the
  // event cannot be written.
  await fixture.database.query(
    `UPDATE submissions SET outcome_kind = 'failed', failure_code = 'captcha', outcome_sealed = '\\x00' WHERE id = $1`,
    [broken],
  );
  await expect(settleSubmissions(fixture.deps, [good, broken, last])).rejects.toThrow(
    '1 submissions could not be settled',
  );
  expect((await fixture.stateOf(good)).state).toBe('submitted');
  expect((await fixture.stateOf(broken)).state).toBe('settling');
  expect((await fixture.stateOf(last)).state).toBe('submitted');
  await fixture.database.query(
    `UPDATE submissions SET outcome_kind = 'completed', failure_code = NULL WHERE id = $1`,
    [broken],
  );
  await settleSubmissions(fixture.deps, [broken]);
});

test('without the master key of an outcome, it waits for another process and is no dead letter', async () => {
  const tenantId = await fixture.tenant({ webhookUrl: 'https://hooks.example.com/' });
  const [good, sealed] = [
    await fixture.submission(tenantId, 'settling'),
    await fixture.submission(tenantId, 'settling'),
  ];
  const { deps, database } = fixture;
  const stateOf = (id: string) => fixture.stateOf(id);
  const rotated = openRotated(fixture);
  const place = { table: 'submissions', column: 'outcome_sealed', tenantId, kind: 'failed' };
  const outcome = rotated.sealer.seal({ ...place, row: sealed }, '{"message":"A captcha."}');
  await database.query(
    `UPDATE submissions SET outcome_kind = 'failed', failure_code = 'captcha', outcome_sealed = $2 WHERE id = $1`,
    [sealed, outcome],
  );
  await settleSubmissions(deps, [sealed, good]);
  expect([await stateOf(sealed), await stateOf(good)]).toMatchObject([
    { state: 'settling' },
    { state: 'submitted' },
  ]);
  for (let pass = 0; pass <= deadLetterFailures; pass += 1) {
    await fixture.advance(unsettledGraceMs);
    await reconcile(deps);
  }
  expect(await readDeadLetters(deps.store, 10)).toMatchObject({ retrying: 0, count: 0 });
  await settle(rotated, [sealed]);
  await rotated.close();
  expect((await stateOf(sealed)).state).toBe('failed');
});

test('without Redis money moves anyway, and the event is due in Postgres', async () => {
  const tenantId = await fixture.tenant({ webhookUrl: 'https://hooks.example.com/' });
  const submissionId = await fixture.submission(tenantId, 'settling');
  const away = {
    ...fixture.deps.producer,
    joinWaitingWakeUp: () => Promise.reject(new Error('Redis is away')),
  };
  await settleSubmissions({ ...fixture.deps, producer: away }, [submissionId]);
  expect((await fixture.stateOf(submissionId)).state).toBe('submitted');
  expect(await deliveryIdsOf([submissionId])).toHaveLength(1);
});

test('a job ends only after its events were announced', async () => {
  const tenantId = await fixture.tenant({ webhookUrl: 'https://hooks.example.com/' });
  const submissionId = await fixture.submission(tenantId, 'settling');
  let isAnnounced = false;
  const slow = {
    ...fixture.deps.producer,
    async joinWaitingWakeUp(...given: Parameters<Producer['joinWaitingWakeUp']>) {
      await new Promise((resolve) => setImmediate(resolve));
      isAnnounced = true;
      return fixture.deps.producer.joinWaitingWakeUp(...given);
    },
  };
  await settleSubmissions({ ...fixture.deps, producer: slow }, [submissionId]);
  expect(isAnnounced).toBe(true);
});
