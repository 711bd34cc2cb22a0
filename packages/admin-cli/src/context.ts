import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { openReadyStore, type Store } from '@svc/store';
import { type Configuration, readConfiguration } from './configuration.ts';
import { Refusal } from './refusal.ts';

/** What a command works with. */
export interface Context {
  readonly configuration: Configuration;
  readonly store: Store;
}

const poolConnectionsMax = 4;

/** Opens the store on a schema that this build knows, does the work, and closes it again. */
export async function withContext<T>(work: (context: Context) => Promise<T>): Promise<T> {
  const configuration = readConfiguration(process.env);
  const opened = await openReadyStore({
    databaseUrl: configuration.DATABASE_URL,
    environment: configuration.SVC_ENVIRONMENT,
    sealer: createSealer(openKeyring(configuration.SVC_MASTER_KEY)),
    newId,
    poolMax: poolConnectionsMax,
    applicationName: 'svc-cli',
  });
  if (opened.kind === 'refused') throw new Refusal(opened.reason);
  try {
    return await work({ configuration, store: opened.store });
  } finally {
    await opened.store.close();
  }
}
