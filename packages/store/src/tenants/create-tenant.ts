import { assertInvariant, formatCredits, toWireId } from '@svc/domain';
import { appendAudit, type Author, withoutQuery } from '../audit-log/audit.ts';
import type { Store } from '../connection/store.ts';
import { insertGrant } from '../ledger/grants.ts';
import { insertTenant, type NewTenant } from './tenants.ts';

/** Creates a tenant with its first credits (CONTRACT 4). */
export async function createTenant(
  store: Store,
  tenant: NewTenant,
  grantMicros: bigint,
  by: Author,
): Promise<void> {
  const tenantId = toWireId('tnt', tenant.id);
  await store.transaction(async (query) => {
    await insertTenant(store, query, tenant);
    if (grantMicros > 0n) {
      const grant = {
        purchaseId: store.newId(),
        tenantId: tenant.id,
        creditsMicros: grantMicros,
        reference: `opening-grant:${tenantId}`,
        usdMicros: null,
        note: null,
      };
      const { kind } = await insertGrant(store, query, grant, by);
      assertInvariant(kind === 'granted', 'the opening grant of a new account succeeds');
    }
    const { name, allowedJobTypes, webhookUrl } = tenant;
    await appendAudit(query, by, {
      action: 'tenant.create',
      subject: { kind: 'tenant', id: tenantId },
      before: null,
      after: {
        name,
        allowedJobTypes,
        webhookUrl: webhookUrl === null ? null : withoutQuery(webhookUrl),
        credits: formatCredits(grantMicros),
      },
    });
  });
}
