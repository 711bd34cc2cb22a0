import { isUnavailable } from '../connection/errors.ts';
import { urlsOfHosts } from '../connection/hosts.ts';
import type { SessionCheck } from '../connection/session.ts';
import { openStore, type Store, type StoreOptions } from '../connection/store.ts';
import { wrongUrl } from '../connection/wrong-url.ts';
import { environmentPlace } from '../sealing/sealed.ts';
import { followPhase, phaseOf, readEnvironment } from '../sealing/sealing-phase.ts';
import { schemaStatus } from './migrate.ts';
import { excessPrivileges } from './roles.ts';
import { oldServer } from './server-version.ts';

export type EnvironmentName = 'sandbox' | 'production';

export type Readiness =
  | { kind: 'ready'; requestHashKey: Uint8Array }
  | { kind: 'server_too_old'; reason: string }
  | { kind: 'schema_behind'; pending: string[] }
  | { kind: 'schema_unknown'; reason: string }
  | { kind: 'other_environment'; found: string }
  /**
   * Only in production: the connected role has privileges that services must not have
   * (`excessPrivileges`).
   */
  | { kind: 'too_privileged'; excess: string[] }
  /**
   * Only with `refusesAsyncStandby`: Postgres has a standby, but commits do not wait for it. A
   * failover may lose such commits.
   */
  | { kind: 'async_standby' }
  /** The sessions have wrong settings, or the pooler does not keep prepared statements. */
  | { kind: 'wrong_session'; faults: string[] }
  /** The master key of this process cannot open the sealed value in the environment row. */
  | { kind: 'other_key' };

export interface ReadinessOptions {
  /** If true, a database whose commits do not wait for its standby is refused. Default false. */
  readonly refusesAsyncStandby?: boolean;
  /**
   * True if DATABASE_URL lists several hosts. All hosts except the primary are then standbys.
   * Default false.
   */
  readonly listsStandby?: boolean;
}

const requestHashKeyBytes = 32;

/**
 * Checks if a service may use the database: returns `ready` or the first fault. Also writes the
 * environment row if it is missing, and sets the sealing phase of `store`.
 */
export async function assertReady(
  store: Store,
  environment: EnvironmentName,
  { refusesAsyncStandby = false, listsStandby = false }: ReadinessOptions = {},
): Promise<Readiness> {
  const reason = await oldServer((sql) => store.query(sql, []));
  if (reason !== undefined) return { kind: 'server_too_old', reason };
  const status = await schemaStatus((sql) => store.query(sql, []));
  if (status.kind === 'behind') return { kind: 'schema_behind', pending: status.lacking };
  if (status.kind === 'unknown') return { kind: 'schema_unknown', reason: status.reason };
  const excess = environment === 'production' ? await excessPrivileges(store) : [];
  if (excess.length > 0) return { kind: 'too_privileged', excess };
  const faults = sessionFaults(await store.checkSession());
  if (faults.length > 0) return { kind: 'wrong_session', faults };
  // New ids contain the database's time.
  await store.readClock();
  const fresh = store.sealer.seal(
    environmentPlace(environment),
    crypto.getRandomValues(new Uint8Array(requestHashKeyBytes)),
  );
  await store.query(
    `INSERT INTO environment (id, name, request_hash_key_sealed, created_at)
     VALUES (1, $1, $2, svc_now()) ON CONFLICT DO NOTHING`,
    [environment, fresh],
  );
  const row = await readEnvironment(store);
  if (row === null) throw new Error('the environment row is missing');
  if (row.name !== environment) return { kind: 'other_environment', found: row.name };
  store.sealer.phase = phaseOf(row);
  if (refusesAsyncStandby && (await hasAsyncStandby(store, listsStandby)))
    return { kind: 'async_standby' };
  try {
    const requestHashKey = store.sealer.unseal(environmentPlace(row.name), row.sealed);
    return { kind: 'ready', requestHashKey };
  } catch {
    return { kind: 'other_key' };
  }
}

/**
 * True if Postgres has a standby and commits do not wait for it (decision 39). Replication
 * connections without a permanent slot do not count, because they may belong to backups.
 */
async function hasAsyncStandby(store: Store, listsStandby: boolean): Promise<boolean> {
  const [row] = await store.query<{ names: string; isFollowed: boolean }>(
    `SELECT current_setting('synchronous_standby_names') AS names, EXISTS (
       SELECT 1 FROM pg_replication_slots WHERE slot_type = 'physical' AND active AND NOT temporary
     ) AS "isFollowed"`,
    [],
  );
  return row !== undefined && row.names.trim() === '' && (listsStandby || row.isFollowed);
}

export type OpenedStore =
  | { kind: 'ready'; store: Store; requestHashKey: Uint8Array }
  /** `reason` describes the fault, and the remedy if one is known, in sentences for an operator. */
  | { kind: 'refused'; reason: string }
  /** `reason` names the variable to correct (CONTRACT 9). */
  | { kind: 'misconfigured'; reason: string };

/**
 * Opens a store and returns it if `assertReady` returns `ready`. Returns `refused` for a fault or an
 * unavailable database, and `misconfigured` for a wrong variable.
 */
export async function openReadyStore(
  options: StoreOptions & ReadinessOptions & { environment: EnvironmentName },
): Promise<OpenedStore> {
  const store = openStore(options);
  try {
    const listsStandby = urlsOfHosts(options.databaseUrl).length > 1;
    const readiness = await assertReady(store, options.environment, { ...options, listsStandby });
    if (readiness.kind === 'ready') return { ...readiness, store: following(store) };
    await store.close();
    const kind = misconfigurations.has(readiness.kind) ? 'misconfigured' : 'refused';
    return { kind, reason: whyNot(readiness, options.environment) };
  } catch (error) {
    await store.close();
    const wrong = wrongUrl(error, 'DATABASE_URL');
    if (wrong !== undefined) return { kind: 'misconfigured', reason: wrong };
    if (!isUnavailable(error)) throw error;
    return {
      kind: 'refused',
      reason:
        'Postgres at DATABASE_URL cannot be reached, is busy, or accepts no writes because it is a standby or read-only. Check Postgres and the URL.',
    };
  }
}

/** The faults that another value of a variable corrects. */
const misconfigurations: ReadonlySet<Readiness['kind']> = new Set([
  'other_environment',
  'other_key',
  'too_privileged',
]);

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
    case 'server_too_old':
      return readiness.reason;
    case 'schema_behind':
      return `The database lacks migrations: ${readiness.pending.join(', ')}. Run \`svc migrate\`.`;
    case 'schema_unknown':
      return `The database schema does not match this build: ${readiness.reason}.`;
    case 'other_environment':
      return `The database belongs to ${readiness.found}, but SVC_ENVIRONMENT is ${wanted}. Correct SVC_ENVIRONMENT, or set DATABASE_URL to the database of ${wanted}.`;
    case 'too_privileged':
      return `The role of DATABASE_URL ${readiness.excess.join(' and ')}. In production it must not have such rights. Use another role in DATABASE_URL. Set MIGRATION_DATABASE_URL to a URL with the role that owns the tables, and run \`svc migrate\`.`;
    case 'async_standby':
      return 'The database has a standby, but commits do not wait for it (synchronous_standby_names is empty), so a failover may lose holds and charges. Set synchronous_standby_names on the primary. If the provider of the database protects commits in another way, set DATABASE_ALLOW_ASYNC_STANDBY=1.';
    case 'wrong_session':
      return readiness.faults.join(' ');
    case 'other_key':
      return 'SVC_MASTER_KEY cannot open the sealed values of the database. Set SVC_MASTER_KEY to the key that sealed these values.';
  }
}

function sessionFaults({ wrongSettings, isPooled, keepsStatements }: SessionCheck): string[] {
  const faults: string[] = [];
  if (wrongSettings.length > 0)
    faults.push(
      `The sessions of DATABASE_URL have wrong settings: ${wrongSettings.join(', ')}. Run \`svc migrate\`, which corrects them.${isPooled ? ' Then run RECONNECT in the console of PgBouncer.' : ''} If they are still wrong, remove them from the \`options\` of DATABASE_URL and from the settings of the role for this database.`,
    );
  if (!keepsStatements)
    faults.push(
      'The pooler at DATABASE_URL does not keep prepared statements. Use PgBouncer 1.21 or newer with `pool_mode = transaction` and `max_prepared_statements` above 0.',
    );
  return faults;
}

/** The database's time, which is the time of the service (CONTRACT 4). */
export async function databaseNow(store: Store): Promise<Date> {
  const [row] = await store.query<{ now: Date }>('SELECT svc_now() AS now', []);
  if (row === undefined) throw new Error('svc_now() returned no row');
  return row.now;
}
