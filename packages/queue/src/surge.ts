import type { Redis } from 'ioredis';
import { redisScript } from './redis-script.ts';
import { keyPrefix } from './redis.ts';

/**
 * The smoothed multiplier before `steppedSurge` rounds it, and the time at which it was computed.
 */
export interface SmoothedSurge {
  readonly micros: bigint;
  /** Unix ms by Redis's clock. */
  readonly atMs: number;
}

/**
 * The surge multiplier, which all dispatchers compute together (decision 14). All methods throw if
 * Redis is unreachable.
 */
export interface SurgeBoard {
  /**
   * Reads the smoothed value, and Unix time by Redis's clock. `smoothed` is null if nothing was
   * published within `smoothedKeptMs`.
   */
  read(): Promise<{ readonly smoothed: SmoothedSurge | null; readonly nowMs: number }>;
  /**
   * Publishes `smoothed` and `multiplierMicros`, if the stored smoothed value is still the one that
   * `read` returned (`after`). Otherwise changes nothing and returns false.
   */
  publish(next: {
    readonly after: SmoothedSurge | null;
    readonly smoothed: SmoothedSurge;
    readonly multiplierMicros: bigint;
  }): Promise<boolean>;
}

/**
 * The lifetime of the published multiplier. After this time there is no surge until a newer
 * multiplier is published.
 */
export const surgePublishedMs = 10_000;
const smoothedKeptMs = 60_000;

function surgeKey(prefix: string): string {
  return `${keyPrefix(prefix)}:surge`;
}

/**
 * The published multiplier in millionths, as a decimal text: `1250000` means 1.25. Null if there is
 * none. Throws if Redis is unreachable.
 */
export async function readPublishedSurge(redis: Redis, prefix: string): Promise<string | null> {
  return await redis.get(surgeKey(prefix));
}

/**
 * `KEYS[1]`: the multiplier's key. ARGV: expected smoothed value ("" for none), new one,
 * multiplier, lifetimes in ms of the multiplier and of the smoothed value.
 */
const publishScript = `
local smoothed = KEYS[1] .. ':smoothed'
if (redis.call('GET', smoothed) or '') ~= ARGV[1] then return 0 end
redis.call('SET', smoothed, ARGV[2], 'PX', ARGV[5])
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1
`;

const publish = redisScript(publishScript);

function textOf(smoothed: SmoothedSurge | null): string {
  return smoothed === null ? '' : `${smoothed.micros} ${smoothed.atMs}`;
}

function parseSmoothed(text: string | null): SmoothedSurge | null {
  const match = /^([0-9]{1,9}) ([0-9]{1,15})$/.exec(text ?? '');
  if (match === null) return null;
  return { micros: BigInt(match[1] ?? ''), atMs: Number(match[2]) };
}

export function createSurgeBoard({
  redis,
  prefix,
}: {
  readonly redis: Redis;
  readonly prefix: string;
}): SurgeBoard {
  const key = surgeKey(prefix);
  return {
    async read() {
      const [text, [seconds, micros]] = await Promise.all([
        redis.get(`${key}:smoothed`),
        redis.time(),
      ]);
      const nowMs = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
      return { smoothed: parseSmoothed(text), nowMs };
    },
    async publish({ after, smoothed, multiplierMicros }) {
      const published = await publish(redis, key, [
        textOf(after),
        textOf(smoothed),
        String(multiplierMicros),
        surgePublishedMs,
        smoothedKeptMs,
      ]);
      return published === 1;
    },
  };
}
