import { assertNever } from '@svc/domain';
import { CannotStart, newId, type Logger } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { assertReady, isUnavailable, openStore, type Readiness, type Store } from '@svc/store';
import type { WebhooksConfig } from './config.ts';

/** A store on a database that this build may work with. Throws `CannotStart` where it is not. */
export async function openReadyStore(config: WebhooksConfig, logger: Logger): Promise<Store> {
  const store = openStore({
    databaseUrl: config.DATABASE_URL,
    sealer: createSealer(openKeyring(config.SVC_MASTER_KEY)),
    newId,
    applicationName: 'webhooks',
    onConnectionError: (error) => logger.warn({ err: error }, 'database connection error'),
  });
  try {
    const readiness = await assertReady(store, config.SVC_ENVIRONMENT);
    if (readiness.kind !== 'ready') throw new CannotStart(whyNot(readiness));
    return store;
  } catch (error) {
    await store.close();
    if (!isUnavailable(error)) throw error;
    throw new CannotStart('Postgres does not answer at DATABASE_URL.', { cause: error });
  }
}

function whyNot(readiness: Exclude<Readiness, { kind: 'ready' }>): string {
  switch (readiness.kind) {
    case 'schema_behind':
      return `The database lacks migrations (${readiness.pending.join(', ')}): run \`svc migrate\`.`;
    case 'schema_unknown':
      return `The database has a schema that this build does not know: ${readiness.reason}`;
    case 'other_environment':
      return `The database belongs to ${readiness.found}; SVC_ENVIRONMENT says otherwise.`;
    default:
      return assertNever(readiness);
  }
}
