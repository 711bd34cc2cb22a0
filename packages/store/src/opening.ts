import { toWireId } from '@svc/domain';
import { grantCredits } from './purchases.ts';
import type { Store } from './store.ts';
import { createTenant, type NewTenant } from './tenants.ts';

/** Creates a tenant with the credits it begins with (CONTRACT.md section 4); 0 grants none. */
export async function openTenant(
  store: Store,
  tenant: NewTenant,
  grantMicros: bigint,
): Promise<void> {
  await createTenant(store, tenant);
  if (grantMicros === 0n) return;
  await grantCredits(store, {
    purchaseId: store.newId(),
    tenantId: tenant.id,
    creditsMicros: grantMicros,
    reference: `opening-grant:${toWireId('tnt', tenant.id)}`,
    usdMicros: null,
    note: null,
    operatorId: null,
  });
}
