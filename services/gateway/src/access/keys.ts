import type { Clock } from '@svc/runtime';
import { findOperatorCredentials, findTenantCredentials, type Store } from '@svc/store';
import { createExpiringCache } from '../expiring-cache.ts';
import type { KeyAge, Keys } from './authenticate.ts';

/**
 * A rotated secret, a disabled key or a new rate card takes effect after at most this time, or at
 * once if a hold compares the epoch. A quote pins the rate card version that it was made with. The
 * cache also saves unsealing the secrets for each request.
 */
const keysTtlMs = 3_000;
/** The number also bounds the memory: a tenant has at most two secrets and a few job types. */
const tenantsMax = 10_000;
const operatorsMax = 100;
/** Unknown ids have their own limit, so that invented ids cannot evict real keys. */
const unknownMax = 1_000;

/**
 * Loads the keys of tenants and operators from Postgres and caches them. Keys of a tenant may be older
 * than `keysTtlMs` only for a caller that compares their epoch. Those with a secret that expires are
 * never older, because its expiry does not change the epoch.
 */
export function createKeys(store: Store, clock: Clock): Keys {
  const common = { ttlMs: keysTtlMs, isAbsent, absentMax: unknownMax, clock };
  const tenants = createExpiringCache({
    ...common,
    load: async (id: string) => {
      const loadedAtMs = clock.monotonicMs();
      const credentials = await findTenantCredentials(store, id);
      return credentials === null ? null : { credentials, loadedAtMs };
    },
    entriesMax: tenantsMax,
  });
  const operators = createExpiringCache({
    ...common,
    load: (id: string) => findOperatorCredentials(store, id),
    entriesMax: operatorsMax,
  });
  return {
    async tenant(id, age) {
      let found = await tenants.get(id, ageMsMaxOf[age]);
      if (found?.credentials.hasExpiringSecret === true) {
        found = await tenants.get(id, Math.min(ageMsMaxOf[age], keysTtlMs));
      }
      if (found === null) return null;
      const { credentials, loadedAtMs } = found;
      return { credentials, isRecent: clock.monotonicMs() - loadedAtMs < keysTtlMs };
    },
    operator: (id) => operators.get(id),
  };
}

const ageMsMaxOf: Readonly<Record<KeyAge, number>> = { any: Infinity, recent: keysTtlMs, new: 0 };

function isAbsent(value: unknown): boolean {
  return value === null;
}
