import { CannotStart, newId, type Logger } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { openReadyStore, type Store } from '@svc/store';

import type { DispatcherConfig } from './config.ts';

/**
 * Opens the store. Throws `CannotStart` with the reason if this build must not use the database.
 */
export async function openStoreOrRefuse(config: DispatcherConfig, logger: Logger): Promise<Store> {
  const opened = await openReadyStore({
    databaseUrl: config.DATABASE_URL,
    environment: config.SVC_ENVIRONMENT,
    sealer: createSealer(openKeyring(config.SVC_MASTER_KEY)),
    newId,
    usageCapFactor: config.USAGE_CAP_FACTOR,
    applicationName: 'dispatcher',
    onConnectionError: (error) => logger.warn({ err: error }, 'database connection error'),
  });
  if (opened.kind === 'refused') throw new CannotStart(opened.reason);
  return opened.store;
}
