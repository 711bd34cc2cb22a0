import { compileAddresses, toWireId } from '@svc/domain';
import type { Clock, Logger } from '@svc/runtime';
import { findOperatorCredentials, findTenantCredentials, type Store } from '@svc/store';
import { createExpiringCache } from '../expiring-cache.ts';
import type { AskedKey, KeyAge, Keys } from './authenticate.ts';

/**
 * The longest time until a change takes effect, such as a dropped secret (CONTRACT 1). A hold
 * compares epochs, so it notices a change of its tenant's keys at once.
 */
const keysTtlMs = 3_000;
/**
 * The maximum number of cached entries. A tenant's first keys (`AskedKey`) share one entry. Each
 * key that a request names has its own entry (CONTRACT 12).
 */
const tenantKeysMax = 10_000;
const operatorsMax = 100;
/** The most unknown ids in a cache. They are kept apart, so that they cannot evict real keys. */
const unknownMax = 1_000;

/** Creates a cache of the keys. `onTampered` is called at each read of a tampered key. */
export function createKeys({
  store,
  clock,
  logger,
  onTampered,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onTampered: () => void;
}): Keys {
  const common = { ttlMs: keysTtlMs, isAbsent, absentMax: unknownMax, clock };
  const tenants = createExpiringCache({
    ...common,
    load: async (key: string) => {
      const loadedAtMs = clock.monotonicMs();
      const { tenantId, keyId } = askedOf(key);
      const credentials = await findTenantCredentials(store, tenantId, keyId);
      if (credentials === null) return null;
      for (const id of credentials.tamperedKeyIds) {
        const ids = { tenantId: toWireId('tnt', tenantId), keyId: toWireId('key', id) };
        onTampered();
        logger.error(ids, 'the limits of a key were changed in the database; the key is refused');
      }
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
      // The account's epoch does not change when a secret expires. So credentials with an expiring
      // secret are loaded again after `keysTtlMs`, also if `age` is `any`.
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
