import type { Redis } from 'ioredis';

/** The settings of Redis that the service depends on. Null if Redis does not tell them. */
export interface RedisHealth {
  readonly version: string | null;
  /** What Redis does when its memory is full. */
  readonly maxmemoryPolicy: string | null;
  readonly isAppendOnly: boolean | null;
  /** False if Redis could not write its file the last time. */
  readonly isWritten: boolean | null;
  readonly usedBytes: number | null;
  /** 0 if there is no limit. */
  readonly maxBytes: number | null;
  /** Unix time by the clock of Redis. */
  readonly nowMs: number;
}

/** Reads `INFO` and `TIME`, which a restricted user of Redis may run too. */
export async function readRedisHealth(redis: Redis): Promise<RedisHealth> {
  const [info, [seconds, micros]] = await Promise.all([redis.info(), redis.time()]);
  const nowMs = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  return { ...parseInfo(info), nowMs };
}

/** Parses the answer to `INFO`. */
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
