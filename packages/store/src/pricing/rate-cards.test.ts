import { defaultRateCardJson, parseRateCard, toWireId } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { commitRunning } from '../assignments/begin.ts';
import { commitDispatched } from '../assignments/dispatch.ts';
import { storeOutcome } from '../assignments/outcomes.ts';
import { settle } from '../endings/endings.ts';
import { createFixture, usage } from '../store.fixture.ts';
import {
  currentRateCard,
  insertRateCard,
  typicalUsage,
  typicalUsageSettledMin,
} from './rate-cards.ts';

const doubled = parseRateCard(0, {
  usdPerCredit: '0.01',
  jobTypes: defaultRateCardJson.jobTypes.map((jobType) => ({
    ...jobType,
    tiers: { standard: { base: '40', min: '10', max: '200', tierMultiplier: '1', weights: {} } },
  })),
});

test("a tenant's card has priority over the default, and the newest version is used", async () => {
  const { store, tenant, database } = await createFixture();
  const [one, other] = [await tenant(), await tenant()];
  const before = await currentRateCard(store, one);
  const own = await insertRateCard(store, doubled, one, testAuthor);
  expect((await currentRateCard(store, one))?.version).toBe(own);
  expect((await currentRateCard(store, other))?.version).toBe(before?.version);
  const forAll = await insertRateCard(store, doubled, null, testAuthor);
  expect((await currentRateCard(store, other))?.version).toBe(forAll);
  expect((await currentRateCard(store, one))?.version).toBe(own);
  const audited = await database.query(
    `SELECT subject_kind AS kind, subject_id AS id FROM audit_log WHERE action = 'rate_card.apply'
     ORDER BY audit_log.id`,
  );
  expect(audited).toEqual([
    { kind: 'tenant', id: toWireId('tnt', one) },
    { kind: 'service', id: 'rate-card' },
  ]);
});

test('a submission is charged by the card of its quote, whatever came into force since', async () => {
  const { store, tenant, hold, node, figures } = await createFixture();
  const tenantId = await tenant(1_000);
  const { id: submissionId } = await hold(tenantId);
  await insertRateCard(store, doubled, null, testAuthor);
  const nodeId = await node();
  await commitDispatched(store, { submissionId, nodeId });
  await commitRunning(store, { submissionId, nodeId });
  const outcome = { kind: 'completed', usage: usage({ actions: '8' }), result: {} } as const;
  await storeOutcome(store, { submissionId, nodeId, outcome });
  await settle(store, [submissionId]);
  expect(await figures(tenantId)).toEqual({ balance: 976, held: 0 });
});

test('typical usage is known after enough settlements', async () => {
  const { store, tenant, hold, node } = await createFixture();
  const tenantId = await tenant(100_000);
  const nodeId = await node();
  for (let settled = 0; settled < typicalUsageSettledMin; settled += 1) {
    expect(await typicalUsage(store, 'ats.application')).toBeNull();
    const { id: submissionId } = await hold(tenantId);
    await commitDispatched(store, { submissionId, nodeId });
    await commitRunning(store, { submissionId, nodeId });
    const report = usage({ actions: settled % 2 === 0 ? '4' : '5' });
    const outcome = { kind: 'completed', usage: report, result: {} } as const;
    await storeOutcome(store, { submissionId, nodeId, outcome });
    await settle(store, [submissionId]);
  }
  const typical = await typicalUsage(store, 'ats.application');
  expect(typical?.actions).toEqual({ digits: 45n, scale: 1 });
});
