import { defaultRateCardJson, parseRateCard, type RateJson } from '@svc/domain';
import {
  applyReport,
  beginRecovery,
  cancelSubmission,
  commitRunning,
  createEndpoint,
  createKey,
  createNode,
  endRecovery,
  findOverdue,
  findTenantCredentials,
  insertRateCard,
  readPolledEvents,
  readRecovery,
  settle,
  storeOutcome,
} from '@svc/store';
import type { Fixture } from '@svc/store/fixture';
import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { auditMoney } from '../support/audit.ts';
import { assign, createRestorable, type Kept, reportAll } from './restorable.ts';

/** A card whose charge for work without usage is `base`, which is also its minimum. */
function cardOf(base: string) {
  const [jobType] = defaultRateCardJson.jobTypes;
  if (jobType?.tiers.standard === undefined) throw new Error('the default card has no rate');
  const standard: RateJson = { ...jobType.tiers.standard, base };
  return parseRateCard(0, {
    ...defaultRateCardJson,
    jobTypes: [{ ...jobType, tiers: { ...jobType.tiers, standard } }],
  });
}

const apply = ({ store }: Fixture, base: string) =>
  insertRateCard(store, cardOf(base), null, testAuthor);
const end = ({ store }: Fixture, force = false) => endRecovery(store, { force }, testAuthor);
const completed = { kind: 'completed', usage: {}, result: {} } as const;

/** Completes and settles a submission, then returns its charge in credits. */
async function charge(fixture: Fixture, { submissionId, nodeId }: Kept): Promise<number> {
  const { store, database } = fixture;
  await storeOutcome(store, { submissionId, nodeId, outcome: completed });
  await settle(store, [submissionId]);
  expect(await auditMoney(database.query)).toEqual([]);
  const [row] = await database.query<{ charged: string }>(
    'SELECT charged_micros AS charged FROM submissions WHERE id = $1',
    [submissionId],
  );
  return Number(row?.charged) / 1e6;
}

/** A backup, and after it a card with base 30 by which a node was given a submission. */
async function pricedAfterBackup() {
  const world = await createRestorable();
  const ids = await world.live(async ({ tenant, node }) => ({
    tenantId: await tenant(),
    nodeId: await node(),
  }));
  await world.backUp();
  const lost = await world.live(async (fixture) => {
    const version = await apply(fixture, '30');
    return { version, kept: await assign(fixture, { ...ids, key: 'k' }) };
  });
  return { world, ...ids, ...lost };
}

test('a card that is newer than the backup is an open finding until its prices are applied again', async () => {
  const { world, nodeId, kept, version } = await pricedAfterBackup();
  const restored = await world.restore();
  const { store } = restored;
  expect(await applyReport(store, kept)).toBe('rate_card_missing');
  await reportAll(store, [nodeId]);
  expect(await end(restored)).toMatchObject({ kind: 'incomplete' });
  expect((await readRecovery(store))?.open).toMatchObject([
    { finding: 'rate_card_missing', quoted: { rateCardVersion: version, rate: { base: '30' } } },
  ]);
  await apply(restored, '30');
  expect(await applyReport(store, kept)).toBe('restored');
  expect(await end(restored)).toMatchObject({ kind: 'ended' });
  expect(await charge(restored, kept)).toBe(30);
});

test('another card with the number of the lost one charges nothing', async () => {
  const { world, kept, version, tenantId } = await pricedAfterBackup();
  const restored = await world.restore();
  expect(await apply(restored, '150')).toBe(version);
  expect(await applyReport(restored.store, kept)).toBe('rate_card_missing');
  await apply(restored, '30');
  await apply(restored, '150');
  expect(await applyReport(restored.store, kept)).toBe('restored');
  const request = { submissionId: kept.submissionId, tenantId, by: 'tenant' } as const;
  expect(await charge(restored, kept)).toBe(30);
  expect(await cancelSubmission(restored.store, request)).toMatchObject({ kind: 'terminal' });
});

/** Takes out of a receipt what an older version did not put in. */
function withoutPrices({ store: { sealer } }: Fixture, kept: Kept): Kept {
  const { submissionId: row, nodeId: kind } = kept;
  const place = { table: 'assignments', column: 'receipt', tenantId: null, kind, row };
  const opened = sealer.unseal(place, Buffer.from(kept.receipt, 'base64'));
  const { rate: _rate, nodeId: _node, ...old } = JSON.parse(Buffer.from(opened).toString());
  const sealed = sealer.seal(place, JSON.stringify(old));
  return { ...kept, receipt: Buffer.from(sealed).toString('base64') };
}

test('a receipt without prices is taken only with a card that was there before its submission', async () => {
  const world = await createRestorable();
  const ids = await world.live(async ({ tenant, node }) => ({
    tenantId: await tenant(),
    nodeId: await node(),
  }));
  await world.backUp();
  const { proven, unproven } = await world.live(async (fixture) => {
    const before = await assign(fixture, { ...ids, key: 'proven' });
    await apply(fixture, '30');
    const after = await assign(fixture, { ...ids, key: 'unproven' });
    return { proven: withoutPrices(fixture, before), unproven: withoutPrices(fixture, after) };
  });
  const restored = await world.restore();
  // This card has the number and the prices of the lost one, but the receipt does not prove that.
  await apply(restored, '30');
  expect(await applyReport(restored.store, unproven)).toBe('rate_card_missing');
  expect((await readRecovery(restored.store))?.open).toMatchObject([{ quoted: { rate: null } }]);
  expect(await applyReport(restored.store, proven)).toBe('restored');
  expect(await charge(restored, proven)).toBe(20);
});

test('a run in progress goes on, and an outcome in flight is settled once', async () => {
  const world = await createRestorable();
  const { nodeId, run, ended } = await world.live(async (fixture) => {
    const ids = { tenantId: await fixture.tenant(), nodeId: await fixture.node() };
    const kept = { run: 'run', ended: 'ended' };
    const assigned = await assign(fixture, { ...ids, key: kept.run });
    await commitRunning(fixture.store, assigned);
    return { ...ids, run: assigned, ended: await assign(fixture, { ...ids, key: kept.ended }) };
  });
  await world.backUp();
  await world.live(async (fixture) => {
    await commitRunning(fixture.store, ended);
    await charge(fixture, ended);
  });
  const restored = await world.restore();
  const { store } = restored;
  // The outcome comes before the report. The database has the submission as not begun.
  const early = { submissionId: ended.submissionId, nodeId, outcome: completed };
  expect(await storeOutcome(store, early)).toEqual({ kind: 'not_begun' });
  expect(await applyReport(store, run)).toBe('known');
  expect(await applyReport(store, ended)).toBe('advanced');
  expect(await charge(restored, ended)).toBe(20);
  expect(await storeOutcome(store, early)).toEqual({ kind: 'repeated' });
  await reportAll(store, [nodeId]);
  expect(await end(restored)).toMatchObject({ kind: 'ended' });
  // The lease of the run was an hour old, and its report has renewed it. Its run limit is over.
  const { candidates } = await findOverdue(store, { after: null, limit: 10 });
  expect(candidates.map(({ kind }) => kind)).toEqual(['run_limit']);
});

test('of two nodes with contradicting reports only the one with the receipt gets the submission', async () => {
  const world = await createRestorable();
  const ids = await world.live(async ({ tenant, node }) => ({
    tenantId: await tenant(),
    nodeId: await node(),
    liar: await node(),
  }));
  await world.backUp();
  const kept = await world.live((fixture) => assign(fixture, { ...ids, key: 'k' }));
  const restored = await world.restore();
  const { store } = restored;
  const lie = { ...kept, nodeId: ids.liar };
  for (const receipt of ['', kept.receipt])
    expect(await applyReport(store, { ...lie, receipt })).toBe('unreadable');
  expect(await applyReport(store, kept)).toBe('restored');
  expect(await applyReport(store, lie)).toBe('unreadable');
  await reportAll(store, [ids.nodeId]);
  expect(await end(restored)).toMatchObject({
    status: { missingNodes: [ids.liar], unreadable: [{ nodeId: ids.liar, reports: 3 }], open: [] },
  });
  expect(await charge(restored, kept)).toBe(20);
});

test('a node that was created after the backup reports again under its id', async () => {
  const world = await createRestorable();
  const tenantId = await world.live(({ tenant }) => tenant());
  await world.backUp();
  const kept = await world.live(async (fixture) =>
    assign(fixture, { tenantId, nodeId: await fixture.node(), key: 'k' }),
  );
  const restored = await world.restore();
  const { store } = restored;
  const again = { id: kept.nodeId, name: 'attic', secret: 'nsk_2' };
  await createNode(store, again, testAuthor);
  expect((await readRecovery(store))?.missingNodes).toEqual([kept.nodeId]);
  expect(await applyReport(store, kept)).toBe('restored');
  await reportAll(store, [kept.nodeId]);
  await end(restored);
  expect((await restored.hold(tenantId, { key: 'k' })).outcome).toEqual({ kind: 'key_taken' });
});

test('two restores of one backup give the same submission, also if a key was used between them', async () => {
  const world = await createRestorable();
  const ids = await world.live(async ({ tenant, node }) => ({
    tenantId: await tenant(),
    nodeId: await node(),
  }));
  await world.backUp();
  const kept = await world.live((fixture) => assign(fixture, { ...ids, key: 'k' }));
  const first = await world.restore();
  expect(await end(first, true)).toMatchObject({ kind: 'ended' });
  const between = await assign(first, { ...ids, key: 'k' });
  const second = await world.restore();
  expect(await applyReport(second.store, kept)).toBe('restored');
  expect(await applyReport(second.store, between)).toBe('key_taken');
  expect(await end(second)).toMatchObject({ kind: 'incomplete' });
  expect(await charge(second, kept)).toBe(20);
});

test('endpoints and keys made after the backup are gone, and everything else works', async () => {
  const world = await createRestorable();
  const { tenantId, nodeId } = await world.live(async ({ tenant, node }) => ({
    tenantId: await tenant(),
    nodeId: await node(),
  }));
  await world.backUp();
  const { kept, endpointId } = await world.live(async (fixture) => {
    const { store } = fixture;
    const endpoint = { tenantId, url: null, events: null, description: null, secret: 'whsec_Mg==' };
    const created = await createEndpoint(store, endpoint, testAuthor);
    if (created.kind !== 'created') throw new Error(created.kind);
    const key = { tenantId, secret: 'hsk_test_9', scopes: ['read' as const], addresses: [] };
    await createKey(store, { ...key, expiresInDays: null }, testAuthor);
    const assigned = await assign(fixture, { tenantId, nodeId, key: 'k' });
    return { kept: assigned, endpointId: created.endpoint.id };
  });
  const restored = await world.restore();
  const { store } = restored;
  expect(await beginRecovery(store, testAuthor)).toEqual({ kind: 'in_force' });
  expect(await applyReport(store, kept)).toBe('restored');
  await reportAll(store, [nodeId]);
  await end(restored);
  expect(await charge(restored, kept)).toBe(20);
  const reading = { tenantId, endpointId, after: 0n, limit: 10 };
  expect(await readPolledEvents(store, reading)).not.toMatchObject({ kind: 'events' });
  const secrets = (await findTenantCredentials(store, tenantId))?.hmacSecrets;
  expect(secrets).toEqual(['hsk_test_1']);
});
