import { ConfigError, newId } from '@svc/runtime';
import { createSealer, openKeyring, SealError } from '@svc/signing';
import { type Author, openReadyStore, type Store } from '@svc/store';
import { type Configuration, readConfiguration } from './configuration.ts';
import { identify } from './identity.ts';
import { Refusal } from './refusal.ts';

export interface Context {
  readonly configuration: Configuration;
  readonly store: Store;
  /**
   * The actor, and the id of this call of `svc`. The store functions for audited changes take `by`,
   * and write it into the audit log with the change.
   */
  readonly by: Author & { readonly requestId: string };
}

/** The most connections to Postgres that one call of `svc` opens. */
export const poolConnectionsMax = 4;

/**
 * Throws ConfigError for a wrong variable, and Refusal if the caller or the database is refused. With
 * `mayBeFirst`, no operator's key is needed while no operator is enabled.
 */
export async function withContext<T>(
  work: (context: Context) => Promise<T>,
  { mayBeFirst = false }: { readonly mayBeFirst?: boolean } = {},
): Promise<T> {
  const configuration = readConfiguration(process.env);
  const opened = await openReadyStore({
    databaseUrl: configuration.DATABASE_URL,
    environment: configuration.SVC_ENVIRONMENT,
    sealer: sealerOf(configuration),
    newId,
    poolMax: poolConnectionsMax,
    applicationName: 'svc-cli',
  });
  if (opened.kind === 'misconfigured') throw new ConfigError(opened.reason);
  if (opened.kind === 'refused') throw new Refusal(opened.reason);
  const { store } = opened;
  try {
    const actor = await identify(store, configuration, { mayBeFirst });
    return await work({ configuration, store, by: { actor, requestId: `svc-${newId()}` } });
  } finally {
    await store.close();
  }
}

function sealerOf({ SVC_MASTER_KEY: keys }: Configuration): ReturnType<typeof createSealer> {
  try {
    return createSealer(openKeyring(keys));
  } catch (error) {
    throw error instanceof SealError ? new ConfigError(error.message, { cause: error }) : error;
  }
}
