import { toWireId } from '@svc/domain';
import { type AuditedChange, type Author, insertAudit } from './audit.ts';
import type { Store } from './store.ts';
import { readTenant, type TenantRecord } from './tenants.ts';

/** What operators do to a tenant or to the service beside its settings. */

/**
 * Refuses a tenant's keys from now on, or takes them again; what it has in flight goes on. Null for
 * an unknown tenant. A second time changes nothing.
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

/**
 * Writes the audit log of a change that is made elsewhere, such as in Redis: it is committed once
 * `act` is done, and not where `act` throws. `act` must be short, as a transaction waits for it.
 */
export async function withAudit<T>(
  store: Store,
  change: AuditedChange,
  by: Author,
  act: () => Promise<T>,
): Promise<T> {
  return store.db.$transaction(async (tx) => {
    await insertAudit(tx, by, change);
    return act();
  });
}
