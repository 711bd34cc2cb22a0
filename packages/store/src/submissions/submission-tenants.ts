import type { Store } from '../connection/store.ts';

/**
 * Remembers which tenant a submission belongs to, because its tenant never changes. This saves a
 * read before an outcome is sealed for that tenant.
 */

/**
 * The most submissions per store whose tenant is remembered. The submission that was remembered
 * first is forgotten first.
 */
const rememberedMax = 20_000;

const remembered = new WeakMap<Store, Map<string, string>>();

function mapOf(store: Store): Map<string, string> {
  const found = remembered.get(store) ?? new Map<string, string>();
  remembered.set(store, found);
  return found;
}

interface TenantRow {
  readonly id: string;
  readonly tenant_id: string;
}

export function rememberTenants(store: Store, rows: readonly TenantRow[]): void {
  const map = mapOf(store);
  for (const { id, tenant_id: tenantId } of rows) map.set(id, tenantId);
  for (const id of map.keys()) {
    if (map.size <= rememberedMax) break;
    map.delete(id);
  }
}

const tenantsSql = 'SELECT id, tenant_id FROM submissions WHERE id = ANY($1::uuid[])';

/** Returns a map from submission id to tenant id. A submission that does not exist is not in it. */
export async function tenantsOf(
  store: Store,
  submissionIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const map = mapOf(store);
  const found = new Map<string, string>();
  const unknown = submissionIds.filter((id) => {
    const tenantId = map.get(id);
    if (tenantId !== undefined) found.set(id, tenantId);
    return tenantId === undefined;
  });
  if (unknown.length === 0) return found;
  const rows = await store.query<TenantRow>(tenantsSql, [unknown]);
  rememberTenants(store, rows);
  for (const { id, tenant_id: tenantId } of rows) found.set(id, tenantId);
  return found;
}
