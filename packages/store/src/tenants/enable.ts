import { toWireId } from '@svc/domain';
import { type Author, insertAudit } from '../audit-log/audit.ts';
import type { Store } from '../connection/store.ts';
import { readTenant, type TenantRecord } from './tenants.ts';

/**
 * Disables or enables a tenant. The keys of a disabled tenant are refused. Its submissions in
 * flight continue. Returns null for an unknown tenant. Repeating the call changes nothing.
 */
export async function setTenantEnabled(
  store: Store,
  tenantId: string,
  isEnabled: boolean,
  by: Author,
): Promise<TenantRecord | null> {
  return store.db.$transaction(async (tx) => {
    const changed = await tx.$executeRaw`
      UPDATE tenants SET disabled_at = CASE WHEN ${isEnabled} THEN NULL ELSE svc_now() END
      WHERE id = ${tenantId}::uuid AND (disabled_at IS NULL) <> ${isEnabled}`;
    const tenant = await readTenant(tx, tenantId);
    if (changed > 0) {
      await insertAudit(tx, by, {
        action: isEnabled ? 'tenant.enable' : 'tenant.disable',
        subject: { kind: 'tenant', id: toWireId('tnt', tenantId) },
        before: { isEnabled: !isEnabled },
        after: { isEnabled },
      });
    }
    return tenant;
  });
}
