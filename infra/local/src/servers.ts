import path from 'node:path';
import type { Closer } from './closer.ts';
import { startPostgres } from './postgres.ts';
import type { Say } from './progress.ts';
import { startRedis } from './redis.ts';
import type { Settings } from './settings.ts';

export interface Servers {
  /** The address for the services' role. */
  readonly databaseUrl: string;
  /** The address for the role that migrates; undefined if it is the same role. */
  readonly migrationDatabaseUrl: string | undefined;
  readonly redisUrl: string;
}

/** The most connections: enough for the pools of four services, and some sessions of a person. */
const connectionsMax = 200;
const databaseName = 'postgres';

/** Uses the servers in the environment, or starts embedded ones with their files below `dir`. */
export async function startServers(
  settings: Settings,
  dir: string,
  closer: Closer,
  say: Say,
): Promise<Servers> {
  const { databaseUrl: given, migrationDatabaseUrl } = settings;
  const [database, redisUrl] = await Promise.all([
    given === undefined
      ? embeddedPostgres(dir, closer, say)
      : { databaseUrl: given, migrationDatabaseUrl },
    settings.redisUrl ?? embeddedRedis(dir, closer, say),
  ]);
  if (given !== undefined) say('Postgres: the one of DATABASE_URL');
  if (settings.redisUrl !== undefined) say('Redis: the one of REDIS_URL');
  return { ...database, redisUrl };
}

async function embeddedPostgres(dir: string, closer: Closer, say: Say) {
  const postgres = await startPostgres({ dir, durable: true, connectionsMax });
  await closer.add(() => postgres.stop());
  say(`Postgres: 127.0.0.1:${postgres.port}`);
  return {
    databaseUrl: postgres.serviceUrl(databaseName),
    migrationDatabaseUrl: postgres.databaseUrl(databaseName),
  };
}

async function embeddedRedis(dir: string, closer: Closer, say: Say): Promise<string> {
  const redis = await startRedis({
    dir: path.join(dir, 'redis'),
    durable: true,
    onFetch: () => say('Redis: none on this machine, so the Debian package is fetched into .local'),
  });
  await closer.add(() => redis.stop());
  say(`Redis: 127.0.0.1:${redis.port}`);
  return redis.url;
}
