import path from 'node:path';
import { toWireId } from '@svc/domain';
import { type ServiceProcess, startServiceProcess } from '@svc/local';
import { newId } from '@svc/runtime';
import { Pool } from 'pg';
import { startBaseline } from '../baseline/start.ts';
import { startWorld } from '../load/children.ts';
import type { LoadTenant } from '../load/messages.ts';
import { readWritten } from './counters.ts';
import { startServers } from './servers.ts';
import { lowestIdAt, type Span, type System, type SystemOptions } from './system.ts';

const credits = 500_000_000;

export async function startBaselineSystem(options: SystemOptions): Promise<System> {
  const servers = await startServers(options.dir, { durable: true });
  const { ownerUrl: databaseUrl } = servers;
  const redisUrl = servers.redis.url;
  const world = await startWorld();
  const { webhookUrl } = await world.ask({ kind: 'count' });
  const baseline = await startBaseline({ databaseUrl, redisUrl });
  const processes = new Map(
    baseline.processes.map((one) => [one.name.replace('baseline ', ''), one]),
  );
  const restarted: ServiceProcess[] = [];
  const pool = new Pool({ connectionString: databaseUrl, max: 4 });
  pool.on('error', () => {});
  const tenantsFor = async (url: string | null): Promise<LoadTenant[]> => {
    const tenants: LoadTenant[] = [];
    for (let index = 0; index < options.tenants; index += 1) {
      const own = url === null ? null : `${url}${index}`;
      tenants.push(await baseline.createTenant({ webhookUrl: own, credits }));
    }
    return tenants;
  };
  const link = { link: baseline.nodeLinkUrl, nodeId: toWireId('nod', newId()), secret: 'none' };
  return {
    name: 'baseline',
    gatewayUrls: [baseline.gatewayUrl],
    links: Array.from({ length: options.nodes }, () => link),
    world,
    quiet: await tenantsFor(null),
    notified: await tenantsFor(webhookUrl),
    pids: () => ({
      ...Object.fromEntries([...processes].map(([service, { pid }]) => [service, [pid]])),
      postgres: [servers.postgres.pid],
      redis: [servers.redis.pid],
    }),
    ...readsOf(pool),
    async stopService(service) {
      await processes.get(service)?.stop();
    },
    async startService(service) {
      const name = `baseline ${service}`;
      const entry = path.join(import.meta.dirname, '../baseline', `${service}.ts`);
      const env = { ...process.env, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
      const one = await startServiceProcess({ name, entry, env });
      restarted.push(one);
      processes.set(service, one);
    },
    versions: () => servers.versions(),
    async close() {
      await Promise.all(restarted.map((one) => one.kill()));
      await baseline.close();
      await pool.end();
      await servers.close();
      await world.close();
    },
  };
}

function readsOf(
  pool: Pool,
): Pick<System, 'written' | 'inFlight' | 'endedSince' | 'deliveriesSince'> {
  return {
    written: () => readWritten(pool),
    async inFlight() {
      const { rows } = await pool.query<{ count: number }>(
        'SELECT COALESCE(sum(held / 200000000), 0)::int AS count FROM baseline.accounts',
      );
      return rows[0]?.count ?? 0;
    },
    async endedSince(sinceMs) {
      const { rows } = await pool.query<Span>(
        `SELECT count(*)::int AS count, (extract(epoch FROM min(finished_at)) * 1000)::float8 AS "firstMs",
           (extract(epoch FROM max(finished_at)) * 1000)::float8 AS "lastMs"
         FROM baseline.submissions WHERE id >= $1 AND finished_at IS NOT NULL`,
        [lowestIdAt(sinceMs)],
      );
      return rows[0] ?? { count: 0, firstMs: 0, lastMs: 0 };
    },
    async deliveriesSince(sinceMs) {
      const { rows } = await pool.query<{ id: string; at: number }>(
        `SELECT e.id, (extract(epoch FROM e.created_at) * 1000)::float8 AS at
         FROM baseline.events e JOIN baseline.tenants t ON t.id = e.tenant_id
         WHERE e.id >= $1 AND t.webhook_url IS NOT NULL`,
        [lowestIdAt(sinceMs)],
      );
      return new Map(rows.map(({ id, at }) => [toWireId('dlv', id), at]));
    },
  };
}
