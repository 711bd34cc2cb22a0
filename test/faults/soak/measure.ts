import { readdirSync, readFileSync } from 'node:fs';
import type { World } from '../world/types.ts';
import { collectedBytes } from './collected.ts';
import type { Series } from './slope.ts';

type Figure = Omit<Series, 'points'> & { readonly value: number };

const kibPerMib = 1024;

/** Measures the figures that could grow without a bound. */
export async function measure(world: World): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { process } of [...world.services, ...world.nodes]) {
    const bytes = await collectedBytes(world.dir, process.name, process.pid());
    figures.push({
      name: `memory of live objects of ${process.name}`,
      unit: 'MiB',
      value: bytes / kibPerMib ** 2,
    });
    figures.push({
      name: `memory of ${process.name}`,
      unit: 'MiB',
      value: residentMib(process.pid()),
    });
    // The connections that tenants opened to the gateway are not counted, because the tenants, not
    // the gateway, decide their number.
    const ofTenants = world.proxies.get(`tenants - ${process.name}`)?.connections() ?? 0;
    figures.push({
      name: `descriptors of ${process.name}`,
      unit: '',
      value: descriptors(process.pid()) - ofTenants,
    });
  }
  const info = await world.redis.command('INFO');
  const redis = (name: string): number => Number(new RegExp(`${name}:(\\d+)`).exec(info)?.[1] ?? 0);
  figures.push(
    { name: 'memory of Redis', unit: 'MiB', value: redis('used_memory') / kibPerMib ** 2 },
    { name: 'connections to Redis', unit: '', value: redis('connected_clients') },
    { name: 'keys in Redis', unit: '', value: keysOf(info) },
    { name: 'connections to Postgres', unit: '', value: await sessions(world) },
  );
  return figures;
}

function keysOf(info: string): number {
  return Number(/db0:keys=(\d+)/.exec(info)?.[1] ?? 0);
}

function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / kibPerMib;
}

function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

async function sessions({ pool }: World): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE backend_type = 'client backend'",
  );
  return rows[0]?.count ?? 0;
}
