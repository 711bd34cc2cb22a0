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
 * Notes that somebody reads personal data, before it is shown. `submissionId` and `deliveryId` are
 * UUIDs; with neither, it is a list: `count` says of how many.
 */
export async function auditReading(
  store: Store,
  reading: { submissionId: string } | { deliveryId: string } | { list: string; count: number },
  by: Author,
): Promise<void> {
  await insertAudit(store.db, by, readingOf(reading));
}

function readingOf(reading: Parameters<typeof auditReading>[1]): AuditedChange {
  if ('submissionId' in reading) {
    const id = toWireId('sub', reading.submissionId);
    return { ...read, action: 'submission.read', subject: { kind: 'submission', id } };
  }
  if ('deliveryId' in reading) {
    const id = toWireId('dlv', reading.deliveryId);
    return { ...read, action: 'delivery.read', subject: { kind: 'delivery', id } };
  }
  const { list: id, count } = reading;
  return { action: 'list.read', subject: { kind: 'service', id }, before: null, after: { count } };
}

const read = { before: null, after: null } as const;

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
