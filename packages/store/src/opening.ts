import { assertInvariant, toWireId } from '@svc/domain';
import { insertGrant } from './purchases.ts';
import type { Store } from './store.ts';
import { insertTenant, type NewTenant } from './tenants.ts';

/**
 * Creates a tenant with the credits it begins with (CONTRACT.md section 4); 0 grants none. Both or
 * neither: whoever has credentials has the grant too.
 */
export async function openTenant(
  store: Store,
  tenant: NewTenant,
  grantMicros: bigint,
): Promise<void> {
  await store.db.$transaction(async (tx) => {
    await insertTenant(store, tx, tenant);
    if (grantMicros === 0n) return;
    const granted = await insertGrant(store, tx, {
      purchaseId: store.newId(),
      tenantId: tenant.id,
      creditsMicros: grantMicros,
      reference: `opening-grant:${toWireId('tnt', tenant.id)}`,
      usdMicros: null,
      note: null,
      operatorId: null,
    });
    assertInvariant(granted.kind === 'granted', 'a new account takes its opening grant');
  });
}
