import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { type Author, openReadyStore, type Store } from '@svc/store';
import { type Configuration, readConfiguration } from './configuration.ts';
import { identify } from './identity.ts';
import { Refusal } from './refusal.ts';

/** What a command works with. */
export interface Context {
  readonly configuration: Configuration;
  readonly store: Store;
  /**
   * Who runs the command, and an id of this run: what every function of the store that changes
   * something takes last, and writes into the audit log with the change.
   */
  readonly by: Author & { readonly requestId: string };
}

const poolConnectionsMax = 4;

/**
 * Opens the store on a schema that this build knows, makes sure who asks, does the work, and closes
 * it again. `mayBeFirst`: the command may run before there is any operator.
 */
export async function withContext<T>(
  work: (context: Context) => Promise<T>,
  { mayBeFirst = false }: { readonly mayBeFirst?: boolean } = {},
): Promise<T> {
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
  const { store } = opened;
  try {
    const actor = await identify(store, configuration, { mayBeFirst });
    return await work({ configuration, store, by: { actor, requestId: `svc-${newId()}` } });
  } finally {
    await store.close();
  }
}
