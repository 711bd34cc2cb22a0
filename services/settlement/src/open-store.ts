import { CannotStart, newId, type Logger } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { openReadyStore, type Store } from '@svc/store';
import type { SettlementConfig } from './config.ts';

/**
 * Opens a store after checking that this build may use the database. Throws `CannotStart` if not.
 */
export async function openStoreOrRefuse(config: SettlementConfig, logger: Logger): Promise<Store> {
  const opened = await openReadyStore({
    databaseUrl: config.DATABASE_URL,
    environment: config.SVC_ENVIRONMENT,
    sealer: createSealer(openKeyring(config.SVC_MASTER_KEY)),
    newId,
    applicationName: 'settlement',
    onConnectionError: (error) => logger.warn({ err: error }, 'database connection error'),
  });
  if (opened.kind === 'refused') throw new CannotStart(opened.reason);
  return opened.store;
}
