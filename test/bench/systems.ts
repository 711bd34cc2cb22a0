import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { microsPerCredit, toWireId } from '@svc/domain';
import {
  type RunningServer,
  serviceEntry,
  serviceEnvironment,
  serviceNames,
  type ServiceProcess,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '@svc/local';
import { newId } from '@svc/runtime';
import { createSealer, newSecret, openKeyring } from '@svc/signing';
import { createNode, migrate, openStore, openTenant, type Store } from '@svc/store';
import { Client, Pool } from 'pg';
import { startFloor } from './floor/start.ts';
import type { LinkTo, LoadTenant } from './load/messages.ts';

/** A system under measurement, on a Postgres and a Redis of its own. */
export interface System {
  readonly name: 'product' | 'floor';
  readonly gatewayUrl: string;
  readonly links: readonly LinkTo[];
  /** Tenants that are told of nothing, and as many that are told by webhook. */
  readonly quiet: readonly LoadTenant[];
  readonly told: readonly LoadTenant[];
  readonly pids: Readonly<Record<string, number>>;
  /** How many submissions have not ended yet. */
  inFlight(): Promise<number>;
  query(sql: string): Promise<void>;
  close(): Promise<void>;
}

export interface SystemOptions {
  readonly dir: string;
  readonly webhookUrl: string;
  readonly tenants: number;
  readonly nodes: number;
  readonly env?: NodeJS.ProcessEnv;
}

const credits = 500_000_000n;
const author = { actor: { kind: 'local', name: 'bench' }, requestId: null } as const;

interface Servers {
  readonly postgres: RunningServer;
  readonly redis: RunningServer;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

/** Both as in operation: what is committed is on the disk. */
async function startServers(dir: string): Promise<Servers> {
  const [postgres, redis] = await Promise.all([
    startPostgres({ dir, durable: true, connectionsMax: 120 }),
    startRedis({ dir: path.join(dir, 'redis'), durable: true }),
  ]);
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query('CREATE DATABASE bench');
  await admin.end();
  return {
    postgres,
    redis,
    databaseUrl: postgres.databaseUrl('bench'),
    async close() {
      await Promise.all([postgres.stop(), redis.stop()]);
    },
  };
}

const pidsOf = ({ postgres, redis }: Servers, processes: readonly ServiceProcess[]) => ({
  ...Object.fromEntries(processes.map(({ name, pid }) => [name.replace('floor ', ''), pid])),
  postgres: postgres.pid,
  redis: redis.pid,
});

export async function startProduct(options: SystemOptions): Promise<System> {
  const servers = await startServers(options.dir);
  const { databaseUrl } = servers;
  const migrated = await migrate(databaseUrl);
  if (migrated.kind === 'refused') throw new Error(migrated.reason);
  const masterKey = `bench:${randomBytes(32).toString('base64')}`;
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    ...serviceEnvironment({ databaseUrl, redisUrl: servers.redis.url, masterKey }),
    GATEWAY_PORT: '0',
    NODE_LINK_PORT: '0',
    ADMIN_PORT: '0',
    ...options.env,
  };
  const processes = await Promise.all(
    serviceNames.map((name) => startServiceProcess({ name, entry: serviceEntry(name), env })),
  );
  const portOf = (name: string) => processes.find((one) => one.name === name)?.ready.port ?? 0;
  const sealer = createSealer(openKeyring(masterKey));
  const store = openStore({ databaseUrl, sealer, newId, poolMax: 4 });
  const pool = new Pool({ connectionString: databaseUrl, max: 2 });
  pool.on('error', () => {});
  const [quiet, told, links] = await Promise.all([
    createTenants(store, options.tenants, null),
    createTenants(store, options.tenants, options.webhookUrl),
    createNodes(store, options.nodes, `ws://127.0.0.1:${portOf('dispatcher')}/node/v1`),
  ]);
  // What is measured is the service, not its limit.
  await pool.query(
    'UPDATE tenants SET rate_limit_per_second = 1000000, rate_limit_burst = 2000000',
  );
  return {
    name: 'product',
    gatewayUrl: `http://127.0.0.1:${portOf('gateway')}`,
    links,
    quiet,
    told,
    pids: pidsOf(servers, processes),
    inFlight: () => countOf(pool, 'SELECT count(*) FROM credit_accounts WHERE held_micros > 0'),
    async query(sql) {
      await pool.query(sql);
    },
    async close() {
      await Promise.all(processes.map((one) => one.stop()));
      await Promise.all([store.close(), pool.end()]);
      await servers.close();
    },
  };
}

async function createTenants(
  store: Store,
  count: number,
  webhookUrl: string | null,
): Promise<LoadTenant[]> {
  const tenants: LoadTenant[] = [];
  for (let index = 0; index < count; index += 1) {
    const id = newId();
    const hmacSecret = newSecret('hsk_test', randomBytes);
    const webhookSecret = newSecret('whsec', randomBytes);
    const told = webhookUrl === null ? null : `${webhookUrl}${index}`;
    const allowedJobTypes = ['ats.application'];
    const tenant = {
      id,
      name: 'bench',
      webhookUrl: told,
      allowedJobTypes,
      hmacSecret,
      webhookSecret,
    };
    await openTenant(store, tenant, credits * microsPerCredit, author);
    tenants.push({ tenantId: toWireId('tnt', id), hmacSecret });
  }
  return tenants;
}

async function createNodes(store: Store, count: number, link: string): Promise<LinkTo[]> {
  const links: LinkTo[] = [];
  for (let index = 0; index < count; index += 1) {
    const id = newId();
    const secret = newSecret('nsk', randomBytes);
    await createNode(store, { id, name: `bench ${index}`, secret }, author);
    links.push({ link, nodeId: toWireId('nod', id), secret });
  }
  return links;
}

export async function startFloorSystem(options: SystemOptions): Promise<System> {
  const servers = await startServers(options.dir);
  const { databaseUrl } = servers;
  const floor = await startFloor({ databaseUrl, redisUrl: servers.redis.url, ...options });
  const pool = new Pool({ connectionString: databaseUrl, max: 2 });
  pool.on('error', () => {});
  const tenantsFor = async (webhookUrl: string | null) => {
    const tenants: LoadTenant[] = [];
    for (let index = 0; index < options.tenants; index += 1) {
      const told = webhookUrl === null ? null : `${webhookUrl}${index}`;
      tenants.push(await floor.createTenant({ webhookUrl: told, credits: Number(credits) }));
    }
    return tenants;
  };
  const link = { link: floor.nodeLinkUrl, nodeId: toWireId('nod', newId()), secret: 'none' };
  return {
    name: 'floor',
    gatewayUrl: floor.gatewayUrl,
    links: Array.from({ length: options.nodes }, () => link),
    quiet: await tenantsFor(null),
    told: await tenantsFor(options.webhookUrl),
    pids: pidsOf(servers, floor.processes),
    inFlight: () => countOf(pool, 'SELECT count(*) FROM floor.accounts WHERE held > 0'),
    async query(sql) {
      await pool.query(sql);
    },
    async close() {
      await floor.close();
      await pool.end();
      await servers.close();
    },
  };
}

async function countOf(pool: Pool, sql: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(sql);
  return Number(rows[0]?.count);
}
