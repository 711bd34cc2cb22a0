import { toWireId } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { setTenantEnabled } from './enable.ts';

test('a tenant is disabled and enabled, and only the changes are audited', async () => {
  const { store, tenant, database } = await createFixture();
  const [tenantId, other] = [await tenant(), await tenant()];
  const set = (isEnabled: boolean) => setTenantEnabled(store, tenantId, isEnabled, testAuthor);
  expect(await set(true)).toMatchObject({ disabledAt: null });
  expect((await set(false))?.disabledAt).toBeInstanceOf(Date);
  expect((await set(false))?.disabledAt).toBeInstanceOf(Date);
  expect(await database.query('SELECT id FROM tenants WHERE disabled_at IS NULL')).toEqual([
    { id: other },
  ]);
  expect(await set(true)).toMatchObject({ disabledAt: null });
  const audited = await database.query(
    `SELECT action, before, after FROM audit_log WHERE subject_id = $1 AND action <> 'tenant.create'
     ORDER BY id`,
    [toWireId('tnt', tenantId)],
  );
  const [enabled, disabled] = [{ isEnabled: true }, { isEnabled: false }];
  expect(audited).toEqual([
    { action: 'tenant.disable', before: enabled, after: disabled },
    { action: 'tenant.enable', before: disabled, after: enabled },
  ]);
  expect(await setTenantEnabled(store, store.newId(), false, testAuthor)).toBeNull();
});
