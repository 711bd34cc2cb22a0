import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  serviceEntry,
  serviceEnvironment,
  startPostgres,
  startRedis,
  startServiceProcess,
  type ServiceProcess,
} from '@svc/local';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { assertReady, migrate, openStore, type Store } from '@svc/store';
import { Redis } from 'ioredis';
import { Client, Pool } from 'pg';

export interface World {
  readonly pool: Pool;
  readonly store: Store;
  readonly redis: Redis;
  readonly redisUrl: string;
  readonly program: (name: string) => Promise<ServiceProcess>;
  readonly deliverer: () => Promise<ServiceProcess>;
  readonly close: () => Promise<void>;
}

/**
 * The interval of the reconciler, which also reads whether the webhook queue is paused. It is short
 * so that the deliverer soon makes no more attempts when the queue is paused.
 */
const reconcileIntervalMs = 100;

export async function openWorld(): Promise<World> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-webhooks-'));
  const postgres = await startPostgres({ dir, durable: true, connectionsMax: 60 });
  const redisServer = await startRedis({ dir: path.join(dir, 'redis'), durable: true });
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query('CREATE DATABASE bench');
  await admin.end();
  const ownerUrl = postgres.databaseUrl('bench');
  const databaseUrl = postgres.serviceUrl('bench');
  const migrated = await migrate(ownerUrl, databaseUrl);
  if (migrated.kind === 'refused') throw new Error(migrated.reason);
  const masterKey = `bench:${randomBytes(32).toString('base64')}`;
  const store = openStore({ databaseUrl, sealer: createSealer(openKeyring(masterKey)), newId });
  await assertReady(store, 'sandbox');
  const pool = new Pool({ connectionString: ownerUrl, max: 4 });
  // At the end, Postgres stops while the pool's last connections are still closing. Their errors
  // are ignored.
  pool.on('error', () => {});
  const redis = new Redis(redisServer.url, { maxRetriesPerRequest: null });
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    ...serviceEnvironment({ databaseUrl, redisUrl: redisServer.url, masterKey }),
    ADMIN_PORT: '0',
    RECONCILE_INTERVAL_MS: `${reconcileIntervalMs}`,
  };
  const started: ServiceProcess[] = [];
  const start = async (name: string, entry: string) => {
    const one = await startServiceProcess({ name, entry, env });
    started.push(one);
    return one;
  };
  return {
    pool,
    store,
    redis,
    redisUrl: redisServer.url,
    program: (name) => start(name, path.join(import.meta.dirname, `${name}.ts`)),
    deliverer: () => start('webhooks', serviceEntry('webhooks')),
    async close() {
      await Promise.all(started.map((one) => one.kill()));
      redis.disconnect();
      await Promise.all([store.close(), pool.end()]);
      await redisServer.stop();
      await postgres.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
