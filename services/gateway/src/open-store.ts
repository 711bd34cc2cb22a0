import { CannotStart, newId, type Logger } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { openReadyStore, type Store } from '@svc/store';
import type { GatewayConfig } from './config.ts';

/**
 * Opens the store and the key that hashes requests. Throws `CannotStart` if this build cannot work
 * with the database.
 */
export async function openStoreOrRefuse(
  config: GatewayConfig,
  logger: Logger,
): Promise<{ store: Store; requestHashKey: Uint8Array }> {
  const opened = await openReadyStore({
    databaseUrl: config.DATABASE_URL,
    environment: config.SVC_ENVIRONMENT,
    sealer: createSealer(openKeyring(config.SVC_MASTER_KEY)),
    newId,
    applicationName: 'gateway',
    onConnectionError: (error) => logger.warn({ err: error }, 'database connection error'),
  });
  if (opened.kind === 'refused') throw new CannotStart(opened.reason);
  return opened;
}
