import { compileAddresses } from '@svc/domain';
import type { Clock } from '@svc/runtime';
import { findOperatorCredentials, findTenantCredentials, type Store } from '@svc/store';
import { createExpiringCache } from '../expiring-cache.ts';
import type { AskedKey, KeyAge, Keys } from './authenticate.ts';

/**
 * The longest time until a change takes effect: a rotated secret, a deleted key, a disabled tenant
 * or operator, a new rate limit or a new rate card. But a change of a tenant applies to holds at
 * once. It changes the epoch of the account, and each hold compares this epoch with the epoch of
 * its keys.
 */
const keysTtlMs = 3_000;
/**
 * The most cached entries of tenants' keys. The keys of provisioning and of `rotate-secret` share
 * one entry per tenant, and each named key has its own. This number also limits the memory, because
 * an entry has at most two secrets and a few job types and addresses.
 */
const tenantKeysMax = 10_000;
const operatorsMax = 100;
/** The most unknown ids in a cache. They are kept apart, so that they cannot evict real keys. */
const unknownMax = 1_000;

/**
 * Creates a cache of the keys. Keys that are older than `keysTtlMs` are reloaded. But a caller that
 * asks for the age `any` may get older keys of a tenant, because it compares their epoch. Keys with
 * an expiring secret are reloaded even for this caller, because the expiry does not change the
 * epoch.
 */
export function createKeys(store: Store, clock: Clock): Keys {
  const common = { ttlMs: keysTtlMs, isAbsent, absentMax: unknownMax, clock };
  const tenants = createExpiringCache({
    ...common,
    load: async (key: string) => {
      const loadedAtMs = clock.monotonicMs();
      const { tenantId, keyId } = askedOf(key);
      const credentials = await findTenantCredentials(store, tenantId, keyId);
      if (credentials === null) return null;
      return { credentials, allows: compileAddresses(credentials.addresses), loadedAtMs };
    },
    entriesMax: tenantKeysMax,
  });
  const operators = createExpiringCache({
    ...common,
    load: (id: string) => findOperatorCredentials(store, id),
    entriesMax: operatorsMax,
  });
  return {
    async tenant(asked, age) {
      const key = cacheKeyOf(asked);
      let found = await tenants.get(key, ageMsMaxOf[age]);
      if (found?.credentials.hasExpiringSecret === true) {
        found = await tenants.get(key, Math.min(ageMsMaxOf[age], keysTtlMs));
      }
      if (found === null) return null;
      const { credentials, allows, loadedAtMs } = found;
      return { credentials, allows, isRecent: clock.monotonicMs() - loadedAtMs < keysTtlMs };
    },
    operator: (id) => operators.get(id),
  };
}

const ageMsMaxOf: Readonly<Record<KeyAge, number>> = { any: Infinity, recent: keysTtlMs, new: 0 };

function cacheKeyOf({ tenantId, keyId }: AskedKey): string {
  return keyId === null ? tenantId : `${tenantId}/${keyId}`;
}

function askedOf(cacheKey: string): AskedKey {
  const [tenantId = '', keyId = null] = cacheKey.split('/');
  return { tenantId, keyId };
}

function isAbsent(value: unknown): boolean {
  return value === null;
}
