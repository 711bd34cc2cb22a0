import path from 'node:path';
import { type RunningServer, startPostgres, startRedis } from '@svc/local';
import { Redis } from 'ioredis';
import { Client } from 'pg';

export interface Servers {
  readonly postgres: RunningServer;
  readonly redis: RunningServer;
  /**
   * The URL of the database, with the services' role as its user. The role exists only after the
   * first call of `migrate`, which creates it.
   */
  readonly databaseUrl: string;
  readonly ownerUrl: string;
  versions(): Promise<Record<string, string>>;
  close(): Promise<void>;
}

/** More connections than the services and the benchmark itself open at the same time. */
const connectionsMax = 300;

/**
 * Starts a separate Postgres and Redis for one system. With `durable`, Postgres flushes each commit
 * to disk, and Redis flushes its append-only file every second.
 */
export async function startServers(dir: string, { durable }: { durable: boolean }) {
  const postgres = await startPostgres({ dir, durable, connectionsMax });
  const redis = await startRedis({ dir: path.join(dir, 'redis'), durable });
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query('CREATE DATABASE bench');
  await admin.end();
  const servers: Servers = {
    postgres,
    redis,
    databaseUrl: postgres.serviceUrl('bench'),
    ownerUrl: postgres.databaseUrl('bench'),
    versions: () => versionsOf(postgres, redis),
    async close() {
      await Promise.all([postgres.stop(), redis.stop()]);
    },
  };
  return servers;
}

async function versionsOf(postgres: RunningServer, redis: RunningServer) {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query<{ name: string; setting: string }>(
    `SELECT name, setting FROM pg_settings WHERE name IN ('server_version', 'fsync', 'synchronous_commit')`,
  );
  await client.end();
  const asked = new Redis(redis.url);
  const info = await asked.info();
  asked.disconnect();
  const redisFacts = ['redis_version', 'aof_enabled'].map((name): [string, string] => [
    name,
    new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '',
  ]);
  return Object.fromEntries([
    ...rows.map(({ name, setting }): [string, string] => [`postgres ${name}`, setting]),
    ...redisFacts,
  ]);
}
