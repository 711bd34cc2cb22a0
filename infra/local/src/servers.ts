import path from 'node:path';
import type { Closer } from './closer.ts';
import { startPostgres } from './postgres.ts';
import type { Say } from './progress.ts';
import { startRedis } from './redis.ts';
import type { Settings } from './settings.ts';

export interface Servers {
  /** For the services' role. */
  readonly databaseUrl: string;
  /** For the role that migrates; undefined if there is one role for both. */
  readonly migrationDatabaseUrl: string | undefined;
  readonly redisUrl: string;
}

/** Four services with their pools, and room for a person to look. */
const connectionsMax = 200;
const databaseName = 'postgres';

/** The servers given by the environment, else embedded ones with their files below `dir`. */
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
    onFetch: () => say('Redis: none on this machine; fetching the Debian package into .local'),
  });
  await closer.add(() => redis.stop());
  say(`Redis: 127.0.0.1:${redis.port}`);
  return redis.url;
}
