import { microsPerCredit } from '@svc/domain';
import { closeRedis, connectRedis, waitForRedis } from '@svc/queue';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { createNode, openStore, createTenant, type Author, type Store } from '@svc/store';
import { Pool, type QueryResultRow } from 'pg';
import type { Query } from './rows.ts';

/** The servers that all runs share: a database with a simulated clock, and a Redis. */
export interface Rig {
  readonly store: Store;
  readonly redis: ReturnType<typeof connectRedis>;
  readonly redisUrl: string;
  readonly startMs: number;
  setTime(nowMs: number): Promise<void>;
  readonly query: Query;
  newTenant(): Promise<string>;
  newNodes(count: number): Promise<string[]>;
  close(): Promise<void>;
}

const author: Author = { actor: { kind: 'local', name: 'model' }, requestId: null };
export const grantedMicros = 100_000n * microsPerCredit;

/**
 * `svc_now()` reads the time from a row, which a run updates. A new `svc_now()` for each change
 * would be slow, because Postgres would plan every statement again.
 */
const clockSql = `
  CREATE TABLE fleet_model_clock (now timestamptz NOT NULL);
  GRANT SELECT ON fleet_model_clock TO PUBLIC;
  INSERT INTO fleet_model_clock SELECT date_trunc('milliseconds', statement_timestamp());
  CREATE OR REPLACE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT now FROM fleet_model_clock);`;

/** Opens the rig on a migrated database and a Redis that no other process uses. */
export async function openRig({
  databaseUrl,
  ownerUrl,
  redisUrl,
  masterKey,
}: {
  /** The URL for the services' role. */
  readonly databaseUrl: string;
  /** The URL for the owner of the database, who moves the clock. */
  readonly ownerUrl: string;
  readonly redisUrl: string;
  readonly masterKey: string;
}): Promise<Rig> {
  const pool = new Pool({ connectionString: ownerUrl, max: 2 });
  pool.on('error', () => {});
  await pool.query(clockSql);
  const store = openStore({ databaseUrl, sealer: createSealer(openKeyring(masterKey)), newId });
  const redis = connectRedis(redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
  return {
    store,
    redis,
    redisUrl,
    startMs: Date.now(),
    async setTime(nowMs) {
      await pool.query({
        name: 'set-time',
        text: 'UPDATE fleet_model_clock SET now = to_timestamp($1::float8 / 1000)',
        values: [nowMs],
      });
    },
    async query<Row extends QueryResultRow>(sql: string, values: unknown[] = []) {
      return (await pool.query<Row>(sql, values)).rows;
    },
    newTenant: () => newTenant(store),
    newNodes: async (count) => {
      const ids = Array.from({ length: count }, () => newId());
      await Promise.all(
        ids.map((id) => createNode(store, { id, name: 'model', secret: 'nsk_model' }, author)),
      );
      return ids;
    },
    async close() {
      await closeRedis(redis);
      await store.close();
      await pool.end();
    },
  };
}

async function newTenant(store: Store): Promise<string> {
  const id = newId();
  const tenant = {
    id,
    name: 'model',
    allowedJobTypes: ['ats.application'],
    webhookUrl: null,
    hmacSecret: 'hsk_test_model',
    webhookSecret: 'whsec_bW9kZWw=',
  };
  await createTenant(store, tenant, grantedMicros, author);
  return id;
}
