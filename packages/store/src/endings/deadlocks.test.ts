import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { createFixture } from '../store.fixture.ts';
import { cancelSubmission } from './endings.ts';

test('an ending that a deadlock aborts is run again', async () => {
  const fixture = await createFixture();
  const { store, tenant, hold, figures } = fixture;
  const tenantId = await tenant(1_000);
  const { id: submissionId } = await hold(tenantId);
  const other = await beginOther(fixture);
  await other.query('SELECT FROM submissions WHERE id = $1 FOR UPDATE', [submissionId]);
  const cancelling = cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  await untilLockWait(fixture);
  // Postgres aborts the transaction that has waited for longer, which is the cancel.
  await other.query('SELECT FROM credit_accounts WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  await other.commit();
  expect((await cancelling).kind).toBe('cancelled');
  expect(await figures(tenantId)).toEqual({ balance: 1_000, held: 0 });
});
