import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { countUnreadable, type Finding, noteFinding } from './findings.ts';
import { begin } from './recovery.fixture.ts';
import { readRecovery } from './recovery.ts';

async function createFindings() {
  const fixture = await createFixture();
  const [nodeId, other] = [await fixture.node(), await fixture.node()].toSorted();
  const [submissionId, another] = [fixture.store.newId(), fixture.store.newId()].toSorted();
  const tenantId = await fixture.tenant();
  await begin(fixture);
  const first = {
    incarnation: 2,
    submissionId: submissionId ?? '',
    nodeId: nodeId ?? '',
    tenantId,
    finding: 'advanced',
    quoted: null,
  } as const;
  const note = (change: Partial<Finding>) =>
    noteFinding(fixture.store.query, { ...first, ...change });
  return { ...fixture, first, note, other: other ?? '', another: another ?? '' };
}

test.each([
  ['advanced', 'known', 'advanced'],
  ['restored', 'known', 'restored'],
  ['not_this_nodes', 'known', 'not_this_nodes'],
  ['waits_for_credits', 'known', 'known'],
  ['rate_card_missing', 'known', 'known'],
  ['rate_card_missing', 'restored', 'restored'],
  ['advanced', 'rejected', 'rejected'],
] as const)('after %s, the finding %s is stored as %s', async (first, second, stored) => {
  const { store, note } = await createFindings();
  for (const finding of [first, second]) await note({ finding });
  expect((await readRecovery(store))?.findings).toEqual({ [stored]: 1 });
});

test('a finding replaces only that of its node and submission, with its tenant and its prices', async () => {
  const { store, note, first, other, another, database, advance } = await createFindings();
  const prices = { rateCardVersion: 7, jobType: 'j', tier: 'standard', rate: null };
  const missing = { finding: 'rate_card_missing', quoted: prices } as const;
  await note({ ...missing, submissionId: another });
  await note({ ...missing, nodeId: other });
  await note({ ...missing, tenantId: null });
  await advance(60_000);
  await note({ finding: 'key_taken' });
  const late = `SELECT finding FROM recovery_findings WHERE reported_at > svc_now() - interval '30 s'`;
  expect(await database.query(late)).toEqual([{ finding: 'key_taken' }]);
  const { submissionId, nodeId, tenantId } = first;
  expect(await readRecovery(store)).toMatchObject({
    findings: { key_taken: 1, rate_card_missing: 2 },
    openCount: 3,
    open: [
      { submissionId, nodeId, tenantId, finding: 'key_taken', quoted: null },
      { submissionId, nodeId: other, tenantId, ...missing },
      { submissionId: another, nodeId, tenantId, ...missing },
    ],
  });
  await database.query('UPDATE recovery_findings SET incarnation = 1 WHERE node_id = $1', [other]);
  expect(await readRecovery(store)).toMatchObject({
    openCount: 2,
    findings: { rate_card_missing: 1 },
  });
});

test('unreadable reports are counted for each node and recovery', async () => {
  const { store, first, other, database } = await createFindings();
  const count = (nodeId: string) => countUnreadable(store.query, { incarnation: 2, nodeId });
  for (const nodeId of [other, first.nodeId, other]) await count(nodeId);
  await database.query(
    'INSERT INTO recovery_unreadable (incarnation, node_id, reports) VALUES (1, $1, 9)',
    [other],
  );
  expect((await readRecovery(store))?.unreadable).toEqual([
    { nodeId: first.nodeId, reports: 1 },
    { nodeId: other, reports: 2 },
  ]);
});
