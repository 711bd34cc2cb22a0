import { microsPerCredit } from '@svc/domain';
import { closeRedis, connectRedis, waitForRedis } from '@svc/queue';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import {
  createNode,
  findTenantCredentials,
  openStore,
  createTenant,
  type Author,
  type Store,
  type TenantCredentials,
} from '@svc/store';
import { Client, type QueryResultRow } from 'pg';

/**
 * The servers that all runs of one command share: a database with a simulated clock, and a Redis.
 */
export interface Rig {
  readonly store: Store;
  readonly redis: ReturnType<typeof connectRedis>;
  /** The start time of the next run, in Unix milliseconds. Each call gives a later time. */
  nextStartMs(): number;
  setTime(nowMs: number): Promise<void>;
  query<Row extends QueryResultRow>(text: string, values: readonly unknown[]): Promise<Row[]>;
  countLockWaits(): Promise<number>;
  newTenant(): Promise<TenantCredentials>;
  newNode(): Promise<string>;
  close(): Promise<void>;
}

const author: Author = { actor: { kind: 'local', name: 'interleaving' }, requestId: null };
export const grantedMicros = 2_000n * microsPerCredit;
export const nodeSecret = 'nsk_interleaving';

/**
 * The database reads its time from a row that only the run changes. Each statement sees the latest
 * time, but a transaction with `isSnapshot` sees only one.
 */
const clockSql = `
  CREATE TABLE interleaving_clock (now timestamptz NOT NULL);
  GRANT SELECT ON interleaving_clock TO PUBLIC;
  INSERT INTO interleaving_clock SELECT date_trunc('milliseconds', statement_timestamp());
  CREATE OR REPLACE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT now FROM interleaving_clock);`;

/** An index for the auditor, which reads all submissions of the run's tenants. */
const indexSql = 'CREATE INDEX interleaving_submissions ON submissions (tenant_id)';
/**
 * Plans are generic, as in the services (decision 23). Sequential scans are off, because plans made
 * while the tables are empty would choose them.
 */
const plannerOptions = '-c jit=off -c enable_seqscan=off -c plan_cache_mode=force_generic_plan';

const lockWaitsSql = `
  SELECT count(DISTINCT pid)::int AS waiting FROM pg_locks
  WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`;

const connectionsMax = 60;
/**
 * By the simulated clock, the time between the starts of two runs. Ids contain the time, so two
 * runs of one seed do not create the same ids.
 */
const betweenRunsMs = 1_000;
const hourMs = 3_600_000;

/** Opens the rig on a migrated database and a Redis. No other process may use these two. */
export async function openRig({
  databaseUrl,
  ownerUrl,
  redisUrl,
  masterKey,
}: {
  /** The URL for the services' role. */
  readonly databaseUrl: string;
  /**
   * The URL for the owner of the database. The owner sets the database's simulated clock and reads
   * rows for the auditor.
   */
  readonly ownerUrl: string;
  readonly redisUrl: string;
  readonly masterKey: string;
}): Promise<Rig> {
  const connect = async (): Promise<Client> => {
    const client = new Client({
      connectionString: ownerUrl,
      application_name: 'interleaving',
      options: plannerOptions,
    });
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  const [clock, watch] = [await connect(), await connect()];
  await clock.query(clockSql);
  await clock.query(indexSql);
  const sealer = createSealer(openKeyring(masterKey));
  const store = openStore({ databaseUrl, sealer, newId, poolMax: connectionsMax });
  const redis = connectRedis(redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
  // On the simulated clock, the first run starts one second after a full hour. The minute in which
  // the command is started therefore does not change the run of a seed.
  let startMs = Math.ceil(Date.now() / hourMs) * hourMs;
  return {
    store,
    redis,
    nextStartMs: () => (startMs += betweenRunsMs),
    async setTime(nowMs) {
      await clock.query({
        name: 'set-time',
        text: 'UPDATE interleaving_clock SET now = to_timestamp($1::float8 / 1000)',
        values: [nowMs],
      });
    },
    async query<Row extends QueryResultRow>(text: string, values: readonly unknown[]) {
      const { rows } = await clock.query<Row>({
        name: text.slice(0, 40),
        text,
        values: [...values],
      });
      return rows;
    },
    async countLockWaits() {
      const { rows } = await watch.query<{ waiting: number }>({
        name: 'lock-waits',
        text: lockWaitsSql,
      });
      return rows[0]?.waiting ?? 0;
    },
    newTenant: () => newTenant(store),
    newNode: () => newNode(store),
    async close() {
      await closeRedis(redis);
      await store.close();
      await clock.end();
      await watch.end();
    },
  };
}

async function newTenant(store: Store): Promise<TenantCredentials> {
  const id = newId();
  const tenant = {
    id,
    name: 'interleaving',
    allowedJobTypes: ['ats.application'],
    webhookUrl: null,
    hmacSecret: 'hsk_test_interleaving',
    webhookSecret: 'whsec_bW9kZWw=',
  };
  await createTenant(store, tenant, grantedMicros, author);
  const credentials = await findTenantCredentials(store, id);
  if (credentials === null) throw new Error('the new tenant has no credentials');
  return credentials;
}

async function newNode(store: Store): Promise<string> {
  const id = newId();
  await createNode(store, { id, name: 'interleaving', secret: nodeSecret }, author);
  return id;
}
