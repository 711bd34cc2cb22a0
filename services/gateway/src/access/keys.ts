import type { Clock } from '@svc/runtime';
import { findOperatorCredentials, findTenantCredentials, type Store } from '@svc/store';
import { createExpiringCache } from '../expiring-cache.ts';
import type { Keys } from './authenticate.ts';

/**
 * A rotated secret, a disabled key or a new rate card takes effect after at most this time. A quote
 * pins the rate card version that it was made with. The cache also saves unsealing the secrets for
 * each request.
 */
const keysTtlMs = 3_000;
const tenantsMax = 10_000;
const operatorsMax = 100;
/** Unknown ids have their own limit, so that invented ids cannot evict real keys. */
const unknownMax = 1_000;

/** Loads the keys of tenants and operators from Postgres and caches them for `keysTtlMs`. */
export function createKeys(store: Store, clock: Clock): Keys {
  const common = { ttlMs: keysTtlMs, isAbsent, absentMax: unknownMax, clock };
  const tenants = createExpiringCache({
    ...common,
    load: (id: string) => findTenantCredentials(store, id),
    entriesMax: tenantsMax,
  });
  const operators = createExpiringCache({
    ...common,
    load: (id: string) => findOperatorCredentials(store, id),
    entriesMax: operatorsMax,
  });
  return { tenant: (id) => tenants.get(id), operator: (id) => operators.get(id) };
}

function isAbsent(value: unknown): boolean {
  return value === null;
}
