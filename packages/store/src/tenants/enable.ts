import { toWireId } from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import type { Store } from '../connection/store.ts';
import { findTenant, lockEpochSql, type TenantRecord } from './tenants.ts';

/**
 * The keys of a disabled tenant are refused, but its submissions in flight continue. Returns null
 * for an unknown tenant. Repeating the call changes nothing.
 */
export async function setTenantEnabled(
  store: Store,
  tenantId: string,
  isEnabled: boolean,
  by: Author,
): Promise<TenantRecord | null> {
  await store.transaction(async (query) => {
    await query(lockEpochSql, [tenantId]);
    const [changed] = await query(
      `UPDATE tenants SET disabled_at = CASE WHEN $2::boolean THEN NULL ELSE svc_now() END
       WHERE id = $1::uuid AND (disabled_at IS NULL) <> $2::boolean RETURNING 1`,
      [tenantId, isEnabled],
    );
    if (changed === undefined) return;
    await appendAudit(query, by, {
      action: isEnabled ? 'tenant.enable' : 'tenant.disable',
      subject: { kind: 'tenant', id: toWireId('tnt', tenantId) },
      before: { isEnabled: !isEnabled },
      after: { isEnabled },
    });
  });
  return findTenant(store, tenantId);
}
