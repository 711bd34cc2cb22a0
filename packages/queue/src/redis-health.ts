import type { Redis } from 'ioredis';
import { askCluster, withServer } from './cluster-connector.ts';
import { type ClusterAddress, clusterOf, type ServerAddress } from './redis-address.ts';

/**
 * The settings and the state of Redis that the service depends on. A member is null if Redis does
 * not report it.
 */
export interface RedisHealth {
  readonly version: string | null;
  readonly maxmemoryPolicy: string | null;
  readonly isAppendOnly: boolean | null;
  /** False if the last write or rewrite of the append-only file, or the last dump, failed. */
  readonly isWritten: boolean | null;
  readonly usedBytes: number | null;
  /** 0 if there is no limit. */
  readonly maxBytes: number | null;
  /** Unix time by the clock of Redis. */
  readonly nowMs: number;
}

export interface ClusterHealth {
  /**
   * All masters that own hash slots. `name` is `host:port`. `health` is null if the health of the
   * master could not be read.
   */
  readonly masters: readonly { readonly name: string; readonly health: RedisHealth | null }[];
  readonly slotsOwned: number;
}

export const clusterSlotCount = 16_384;

/**
 * Reads the health of the masters that own hash slots. Returns null if `redisUrl` does not name a
 * cluster. If no server answers, `masters` is empty.
 */
export async function readClusterHealth(redisUrl: string): Promise<ClusterHealth | null> {
  const cluster = clusterOf(redisUrl);
  if (cluster === undefined) return null;
  const owners = await ownersOf(cluster);
  const masters = [...owners.values()].map(async ({ address }) => ({
    name: `${address.host}:${address.port}`,
    health: await withServer(cluster, address, readRedisHealth).catch(() => null),
  }));
  const slots = [...owners.values()].map(({ slots: count }) => count);
  return {
    masters: await Promise.all(masters),
    slotsOwned: slots.reduce((sum, count) => sum + count, 0),
  };
}

/**
 * Finds the masters that own hash slots. Uses only the first server that answers, because the
 * answers of two servers may differ during a failover.
 */
async function ownersOf(
  cluster: ClusterAddress,
): Promise<Map<string, { address: ServerAddress; slots: number }>> {
  const owners = new Map<string, { address: ServerAddress; slots: number }>();
  for (const server of cluster.servers) {
    const nodes = await askCluster(cluster, [server]);
    for (const { address, isMaster, slots } of nodes) {
      const count = slots.reduce((sum, [first, last]) => sum + last - first + 1, 0);
      if (!isMaster || count === 0) continue;
      owners.set(`${address.host}:${address.port}`, { address, slots: count });
    }
    if (nodes.length > 0) break;
  }
  return owners;
}

/**
 * Reads all values from `INFO` and `TIME`, because a user of Redis may lack the right to run
 * `CONFIG GET`.
 */
export async function readRedisHealth(redis: Redis): Promise<RedisHealth> {
  const [info, [seconds, micros]] = await Promise.all([redis.info(), redis.time()]);
  const nowMs = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  return { ...parseInfo(info), nowMs };
}

export function parseInfo(info: string): Omit<RedisHealth, 'nowMs'> {
  const fields = new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const at = line.indexOf(':');
      return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
    }),
  );
  const numberOf = (name: string) => (fields.has(name) ? Number(fields.get(name)) : null);
  const written = ['aof_last_write_status', 'aof_last_bgrewrite_status', 'rdb_last_bgsave_status']
    .map((name) => fields.get(name))
    .filter((status) => status !== undefined);
  return {
    version: fields.get('redis_version') ?? null,
    maxmemoryPolicy: fields.get('maxmemory_policy') ?? null,
    isAppendOnly: fields.has('aof_enabled') ? fields.get('aof_enabled') === '1' : null,
    isWritten: written.length === 0 ? null : written.every((status) => status === 'ok'),
    usedBytes: numberOf('used_memory'),
    maxBytes: numberOf('maxmemory'),
  };
}
