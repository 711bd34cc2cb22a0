import { hostname } from 'node:os';
import { type Lifecycle, type Logger, runUntilClosed } from '@svc/runtime';
import {
  holdsSealingKeys,
  isUnavailable,
  keyHeartbeatMs,
  publishKeys,
  type Store,
  withdrawKeys,
} from '@svc/store';

/**
 * Publishes the ids of the master keys of this process until `lifecycle` closes. `svc master-key
 * rotate` refuses while a live process lacks the new key.
 */
export async function announceKeys(
  store: Store,
  { service, lifecycle, logger }: { service: string; lifecycle: Lifecycle; logger: Logger },
): Promise<void> {
  const holder = { id: store.newId(), service, host: `${hostname()} (pid ${process.pid})` };
  const run = () => publishKeys(store, holder);
  await run();
  lifecycle.add('master keys', () => withdrawKeys(store, holder.id));
  runUntilClosed(lifecycle, {
    name: 'master key heartbeat',
    intervalMs: keyHeartbeatMs,
    run,
    logger,
  });
}

/**
 * False if values may be sealed under a key that this process does not hold. True if Postgres does
 * not answer, because another check of the readiness says so.
 */
export async function hasMasterKeys(store: Store): Promise<boolean> {
  try {
    return await holdsSealingKeys(store);
  } catch (error) {
    if (isUnavailable(error)) return true;
    throw error;
  }
}
