import { randomBytes } from 'node:crypto';
import { microsPerCredit, slotsMaxMax, toWireId } from '@svc/domain';
import {
  type ServiceName,
  type ServiceProcess,
  serviceEntry,
  serviceEnvironment,
  startServiceProcess,
} from '@svc/local';
import { newId } from '@svc/runtime';
import { createSealer, newSecret, openKeyring } from '@svc/signing';
import { assertReady, createNode, migrate, openStore, createTenant, type Store } from '@svc/store';
import { Pool } from 'pg';
import type { LinkTo, LoadTenant } from '../load/messages.ts';
import { type Servers, startServers } from './servers.ts';

export interface Stack {
  readonly servers: Servers;
  readonly store: Store;
  readonly pool: Pool;
  start(service: ServiceName): Promise<ServiceProcess>;
  close(): Promise<void>;
}

export interface StackOptions {
  readonly dir: string;
  readonly durable: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

/** The first balance of each new tenant. No run of the benchmark charges a tenant more than this. */
const firstBalanceMicros = 500_000_000n * microsPerCredit;
const author = { actor: { kind: 'local', name: 'bench' }, requestId: null } as const;
const createdAtOnce = 8;

export async function openStack({ dir, durable, env: more }: StackOptions): Promise<Stack> {
  const servers = await startServers(dir, { durable });
  const { databaseUrl, ownerUrl } = servers;
  const migrated = await migrate(ownerUrl, databaseUrl);
  if (migrated.kind === 'refused') throw new Error(migrated.reason);
  const masterKey = `bench:${randomBytes(32).toString('base64')}`;
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    ...serviceEnvironment({ databaseUrl, redisUrl: servers.redis.url, masterKey }),
    GATEWAY_PORT: '0',
    NODE_LINK_PORT: '0',
    ADMIN_PORT: '0',
    ...more,
  };
  const sealer = createSealer(openKeyring(masterKey));
  const store = openStore({ databaseUrl, sealer, newId, poolMax: createdAtOnce });
  await assertReady(store, 'sandbox');
  const pool = new Pool({ connectionString: ownerUrl, max: 4 });
  // At the end, Postgres stops while the pool's last connections are still closing. Their errors
  // are ignored.
  pool.on('error', () => {});
  const started: ServiceProcess[] = [];
  return {
    servers,
    store,
    pool,
    async start(name) {
      const one = await startServiceProcess({ name, entry: serviceEntry(name), env });
      started.push(one);
      return one;
    },
    async close() {
      await Promise.all(started.map((one) => one.stop()));
      await Promise.all([store.close(), pool.end()]);
      await servers.close();
    },
  };
}

/**
 * Creates tenants with enough credits for every run, and with a rate limit that no run reaches. The
 * bench measures the service and not its limits.
 */
export async function createTenants(
  { store, pool }: Stack,
  count: number,
  webhookUrl: string | null,
): Promise<LoadTenant[]> {
  const tenants = await makeMany(count, async (index) => {
    const id = newId();
    const hmacSecret = newSecret('hsk_test', randomBytes);
    const tenant = {
      id,
      name: 'bench',
      webhookUrl: webhookUrl === null ? null : `${webhookUrl}${index}`,
      allowedJobTypes: ['ats.application'],
      hmacSecret,
      webhookSecret: newSecret('whsec', randomBytes),
    };
    await createTenant(store, tenant, firstBalanceMicros, author);
    return { tenantId: toWireId('tnt', id), hmacSecret };
  });
  await pool.query(
    'UPDATE tenants SET rate_limit_per_second = 1000000, rate_limit_burst = 2000000',
  );
  return tenants;
}

export function createNodes(
  { store }: Stack,
  count: number,
  dispatcherPorts: readonly number[],
): Promise<LinkTo[]> {
  return makeMany(count, async (index) => {
    const id = newId();
    const secret = newSecret('nsk', randomBytes);
    await createNode(store, { id, name: `bench ${index}`, secret, slotsMax: slotsMaxMax }, author);
    const port = dispatcherPorts[index % dispatcherPorts.length];
    return { link: `ws://127.0.0.1:${port}/node/v1`, nodeId: toWireId('nod', id), secret };
  });
}

async function makeMany<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      made[index] = await make(index);
    }
  };
  await Promise.all(Array.from({ length: createdAtOnce }, work));
  return made;
}
