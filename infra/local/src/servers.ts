import path from 'node:path';
import type { Closer } from './closer.ts';
import { startPostgres } from './postgres.ts';
import type { Say } from './progress.ts';
import { startRedis } from './redis.ts';
import type { Settings } from './settings.ts';

export interface Servers {
  /** The URL of the database, with the services' role as its user. */
  readonly databaseUrl: string;
  /**
   * The URL of the database, with the owner of the tables as its user. Undefined if the services'
   * role owns them.
   */
  readonly migrationDatabaseUrl: string | undefined;
  readonly redisUrl: string;
}

/**
 * The most connections to the embedded Postgres. They suffice for the pools of four services and
 * some sessions of a person.
 */
const connectionsMax = 200;
const databaseName = 'postgres';

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
  if (given !== undefined) say('Postgres: the server that DATABASE_URL names');
  if (settings.redisUrl !== undefined) say('Redis: the server that REDIS_URL names');
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
    onFetch: () => say('Redis: not on the PATH, so the Debian package is fetched into .local'),
  });
  await closer.add(() => redis.stop());
  say(`Redis: 127.0.0.1:${redis.port}`);
  return redis.url;
}
