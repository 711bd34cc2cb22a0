import { appliedSql, schemaStatus } from './migrate.ts';
import { Prisma } from '../generated/client.ts';
import { isUnavailable, sqlState } from '../connection/errors.ts';
import { excessPrivileges } from './roles.ts';
import { environmentPlace } from '../sealing/sealed.ts';
import { followPhase, phaseOf, readEnvironment } from '../sealing/sealing-phase.ts';
import { openStore, type Store, type StoreOptions } from '../connection/store.ts';

export type EnvironmentName = 'sandbox' | 'production';

export type Readiness =
  | { kind: 'ready'; requestHashKey: Uint8Array }
  | { kind: 'schema_behind'; pending: string[] }
  | { kind: 'schema_unknown'; reason: string }
  | { kind: 'other_environment'; found: string }
  /** In production only: the database's guards do not bind this role. */
  | { kind: 'too_privileged'; excess: string[] }
  /** What is sealed in the database does not open with this master key. */
  | { kind: 'other_key' };

const undefinedTable = '42P01';
const requestHashKeyBytes = 32;

/**
 * What a service asks before it serves: is the schema the one this build knows, and does the
 * database belong to this environment (CONTRACT 0: sandbox has its own database). The first
 * service to ask writes the row that says so, with a fresh key for request hashes; nothing ever
 * changes the name.
 */
export async function assertReady(store: Store, environment: EnvironmentName): Promise<Readiness> {
  const status = await schemaStatus(async (sql) => {
    try {
      return await store.db.$queryRaw(Prisma.raw(sql));
    } catch (error) {
      if (sqlState(error) === undefinedTable && sql === appliedSql) return [];
      throw error;
    }
  });
  if (status.kind === 'behind') return { kind: 'schema_behind', pending: status.pending };
  if (status.kind === 'unknown') return { kind: 'schema_unknown', reason: status.reason };
  const excess = environment === 'production' ? await excessPrivileges(store) : [];
  if (excess.length > 0) return { kind: 'too_privileged', excess };
  await store.readClock();
  const fresh = store.sealer.seal(
    environmentPlace(environment),
    crypto.getRandomValues(new Uint8Array(requestHashKeyBytes)),
  );
  await store.db.$executeRaw`
    INSERT INTO environment (id, name, request_hash_key_sealed, created_at)
    VALUES (1, ${environment}, ${fresh}, svc_now()) ON CONFLICT DO NOTHING`;
  const row = await readEnvironment(store);
  if (row === null) throw new Error('the environment row is missing');
  if (row.name !== environment) return { kind: 'other_environment', found: row.name };
  store.sealer.phase = phaseOf(row);
  try {
    const requestHashKey = store.sealer.unseal(environmentPlace(row.name), row.sealed);
    return { kind: 'ready', requestHashKey };
  } catch {
    return { kind: 'other_key' };
  }
}

export type OpenedStore =
  | { kind: 'ready'; store: Store; requestHashKey: Uint8Array }
  /** Why not, and what to do about it, in a sentence for an operator. */
  | { kind: 'refused'; reason: string };

/** Opens a store and makes sure that this build may work with it; leaves nothing open where not. */
export async function openReadyStore(
  options: StoreOptions & { environment: EnvironmentName },
): Promise<OpenedStore> {
  const store = openStore(options);
  try {
    const readiness = await assertReady(store, options.environment);
    if (readiness.kind === 'ready') return { ...readiness, store: following(store) };
    await store.close();
    return { kind: 'refused', reason: whyNot(readiness, options.environment) };
  } catch (error) {
    await store.close();
    if (!isUnavailable(error)) throw error;
    return { kind: 'refused', reason: 'Postgres does not answer at DATABASE_URL: is it running?' };
  }
}

/** The same store, which follows the phase of sealing until it is closed. */
function following(store: Store): Store {
  const stop = followPhase(store);
  return {
    ...store,
    async close() {
      stop();
      await store.close();
    },
  };
}

function whyNot(readiness: Exclude<Readiness, { kind: 'ready' }>, wanted: EnvironmentName): string {
  switch (readiness.kind) {
    case 'schema_behind':
      return `The database lacks migrations (${readiness.pending.join(', ')}): run \`svc migrate\`.`;
    case 'schema_unknown':
      return `The database has a schema that this build does not know: ${readiness.reason}.`;
    case 'other_environment':
      return `The database belongs to ${readiness.found}, and SVC_ENVIRONMENT is ${wanted}.`;
    case 'too_privileged':
      return `The role of DATABASE_URL ${readiness.excess.join(' and ')}. In production it must own nothing: give the owner to \`svc migrate\` as MIGRATION_DATABASE_URL, and name another role in DATABASE_URL.`;
    case 'other_key':
      return 'What is sealed in the database does not open with SVC_MASTER_KEY: give it the key, old or new, that the database was sealed with.';
  }
}

/** The database's time, which is the service's (CONTRACT 4). */
export async function databaseNow(store: Store): Promise<Date> {
  const [row] = await store.db.$queryRaw<{ now: Date }[]>`SELECT svc_now() AS now`;
  if (row === undefined) throw new Error('svc_now() gave nothing');
  return row.now;
}
