import type { Clock } from '@svc/runtime';
import { findOperatorCredentials, findTenantCredentials, type Store } from '@svc/store';
import type { Keys } from './authenticate.ts';
import { createExpiringCache } from '../expiring-cache.ts';

/**
 * How long a rotated secret, a disabled key or a new rate card may go unnoticed (a quote pins the
 * version it was made with); secrets are unsealed as rarely.
 */
const keysTtlMs = 3_000;
const tenantsMax = 10_000;
const operatorsMax = 100;
/** Ids that nobody has: apart from the others, so that made-up ones push no real one out. */
const unknownMax = 1_000;

/** The keys of tenants and operators, from the database, as of a moment ago. */
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
