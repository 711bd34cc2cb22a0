import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { assertReady, openStore, type Store } from '@svc/store';
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
  const store = openStore({
    databaseUrl: configuration.DATABASE_URL,
    sealer: createSealer(openKeyring(configuration.SVC_MASTER_KEY)),
    newId,
    poolMax: poolConnectionsMax,
    applicationName: 'svc-cli',
  });
  try {
    const readiness = await assertReady(store, configuration.SVC_ENVIRONMENT);
    switch (readiness.kind) {
      case 'ready':
        return await work({ configuration, store });
      case 'schema_behind':
        throw new Refusal('The database is behind this build. Run `svc migrate` first.');
      case 'schema_unknown':
        throw new Refusal(`The database does not fit this build: ${readiness.reason}.`);
      case 'other_environment':
        throw new Refusal(
          `The database belongs to ${readiness.found}. Set SVC_ENVIRONMENT=${readiness.found}, or another DATABASE_URL.`,
        );
    }
  } finally {
    await store.close();
  }
}
