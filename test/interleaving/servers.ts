import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startPostgres, startRedis } from '@svc/local';
import { migrate } from '@svc/store';
import { Client } from 'pg';
import { openRig, type Rig } from './world/rig.ts';

/**
 * The Postgres server for the runs of `pnpm interleave`. Without `postgres`, the command starts its
 * own server.
 */
export interface GivenServer {
  /** The superuser's URL. */
  readonly postgres?: string | undefined;
  /**
   * The URL of the services' role on the given server. If `postgres` is given without `service`,
   * the services run as the superuser.
   */
  readonly service?: string | undefined;
  /**
   * The name of a migrated database on the given server. The runs use a copy of it. Without
   * `template`, they use a new database, which is migrated first.
   */
  readonly template?: string | undefined;
}

interface Servers {
  readonly rig: Rig;
  readonly stateDir: string;
  close(): Promise<void>;
}

const connectionsMax = 100;
/**
 * The time limits of Postgres that are raised to an hour. In a simulation a transaction may wait
 * for long, and the usual limits would end it (see host/hooks.ts).
 */
const realLimits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
/**
 * The parent of the agents' directories, if it exists. It is in memory because agents sync each
 * write of their state, which is slow on a disk.
 */
const memoryDir = '/dev/shm';

interface Database {
  readonly ownerUrl: string;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

async function openDatabase(given: GivenServer, dir: string): Promise<Database> {
  const own =
    given.postgres === undefined
      ? await startPostgres({ dir, durable: false, connectionsMax })
      : undefined;
  const adminUrl = own?.url ?? given.postgres ?? '';
  const name = `interleaving_${randomBytes(8).toString('hex')}`;
  const copied = given.template === undefined ? '' : ` TEMPLATE ${given.template}`;
  await asAdmin(adminUrl, `CREATE DATABASE ${name}${copied}`);
  const ownerUrl = withDatabase(adminUrl, name);
  const databaseUrl = own?.serviceUrl(name) ?? withDatabase(given.service ?? adminUrl, name);
  if (given.template === undefined) {
    const migrated = await migrate(ownerUrl, databaseUrl);
    if (migrated.kind === 'refused') throw new Error(migrated.reason);
  }
  const role = new URL(databaseUrl).username;
  const liftLimits = realLimits.map(
    (limit) => `ALTER ROLE ${role} IN DATABASE ${name} SET ${limit} = '1h'`,
  );
  await asAdmin(adminUrl, liftLimits.join('; '));
  return {
    ownerUrl,
    databaseUrl,
    async close() {
      await asAdmin(adminUrl, `DROP DATABASE ${name} WITH (FORCE)`);
      await own?.stop();
      if (own !== undefined) rmSync(own.dataDir, { recursive: true, force: true });
    },
  };
}

export async function openServers(given: GivenServer): Promise<Servers> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-interleaving-'));
  const stateParent = existsSync(memoryDir) ? memoryDir : os.tmpdir();
  const stateDir = mkdtempSync(path.join(stateParent, 'svc-interleaving-'));
  const database = await openDatabase(given, dir);
  const redis = await startRedis({ dir, durable: false });
  const masterKey = `interleaving:${randomBytes(32).toString('base64')}`;
  const rig = await openRig({ ...database, redisUrl: redis.url, masterKey });
  return {
    rig,
    stateDir,
    async close() {
      await rig.close();
      await redis.stop();
      await database.close();
      for (const one of [dir, stateDir]) rmSync(one, { recursive: true, force: true });
    },
  };
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function asAdmin(url: string, sql: string): Promise<void> {
  const admin = new Client({ connectionString: url });
  await admin.connect();
  await admin.query(sql);
  await admin.end();
}
