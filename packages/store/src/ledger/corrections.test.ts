import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { commitRunning } from '../assignments/begin.ts';
import { commitDispatched } from '../assignments/dispatch.ts';
import { storeOutcome } from '../assignments/outcomes.ts';
import { settle } from '../endings/endings.ts';
import { createFixture, type Fixture, usage } from '../store.fixture.ts';
import { payRebate, reversePurchase } from './corrections.ts';
import { auditLedger } from './ledger-audit.ts';

async function purchaseOf({ database }: Fixture, tenantId: string): Promise<string> {
  const [row] = await database.query<{ id: string }>(
    'SELECT id FROM purchases WHERE tenant_id = $1',
    [tenantId],
  );
  return row?.id ?? '';
}

test('a purchase is reversed once, however often it is requested', async () => {
  const fixture = await createFixture();
  const { store, figures } = fixture;
  const tenantId = await fixture.tenant(500);
  const purchaseId = await purchaseOf(fixture, tenantId);
  const outcomes = await Promise.all([
    reversePurchase(store, purchaseId, testAuthor),
    reversePurchase(store, purchaseId, testAuthor),
  ]);
  expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['repeated', 'reversed']);
  expect(await figures(tenantId)).toEqual({ balance: 0, held: 0 });
  expect((await auditLedger(store)).faults).toEqual([]);
});

test('a reversal never takes held or spent credits', async () => {
  const fixture = await createFixture();
  const { store, figures } = fixture;
  const tenantId = await fixture.tenant(500);
  await fixture.hold(tenantId, { max: 1 });
  const purchaseId = await purchaseOf(fixture, tenantId);
  expect(await reversePurchase(store, purchaseId, testAuthor)).toEqual({
    kind: 'not_available',
    availableMicros: 499_000_000n,
    creditsMicros: 500_000_000n,
  });
  expect(await figures(tenantId)).toEqual({ balance: 500, held: 1 });
  const unknown = '01a1f8e1-0000-7000-8000-000000000000';
  expect(await reversePurchase(store, unknown, testAuthor)).toEqual({ kind: 'unknown_purchase' });
});

test('an accrued rebate is paid out once, into the balance', async () => {
  const fixture = await createFixture();
  const { store, database, figures } = fixture;
  const tenantId = await fixture.tenant(1_000);
  await database.query('UPDATE tenants SET rebate_millionths = 100000 WHERE id = $1', [tenantId]);
  const { id: submissionId } = await fixture.hold(tenantId);
  const nodeId = await fixture.node();
  await commitDispatched(store, { submissionId, nodeId });
  await commitRunning(store, { submissionId, nodeId });
  const outcome = { kind: 'completed', usage: usage({ actions: '20' }), result: {} } as const;
  await storeOutcome(store, { submissionId, nodeId, outcome });
  await settle(store, [submissionId]);
  expect(await figures(tenantId)).toEqual({ balance: 970, held: 0 });
  const paid = await payRebate(store, tenantId, testAuthor);
  expect(paid).toEqual({
    kind: 'paid',
    paidMicros: 3_000_000n,
    availableAfterMicros: 973_000_000n,
  });
  expect(await payRebate(store, tenantId, testAuthor)).toEqual({
    kind: 'nothing_accrued',
  });
  expect((await auditLedger(store)).faults).toEqual([]);
});
