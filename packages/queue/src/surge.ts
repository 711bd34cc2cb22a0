import type { Redis } from 'ioredis';

import { redisScript } from './redis-script.ts';
import { keyPrefix } from './redis.ts';

/** What the smoothing goes on from: the value before it is rounded to a step, and its moment. */
export interface SmoothedSurge {
  readonly micros: bigint;
  /** Redis's clock. */
  readonly atMs: number;
}

/** The one surge multiplier that all gateways read and all dispatchers work out together. */
export interface SurgeBoard {
  /** Null where nobody has worked it out lately. Everything throws when Redis cannot be reached. */
  read(): Promise<{ readonly smoothed: SmoothedSurge | null; readonly nowMs: number }>;
  /**
   * Publishes what follows from `after`, unless another dispatcher was first: then `false`, and
   * what it published stands. `multiplierMicros` is what is charged.
   */
  publish(next: {
    readonly after: SmoothedSurge | null;
    readonly smoothed: SmoothedSurge;
    readonly multiplierMicros: bigint;
  }): Promise<boolean>;
}

/** Without a dispatcher that works it out there is no surge any more after this. */
export const surgePublishedMs = 10_000;
/** How long the smoothing can be gone on from. */
const smoothedKeptMs = 60_000;

/** Millionths, as decimal digits. */
function surgeKey(prefix: string): string {
  return `${keyPrefix(prefix)}:surge`;
}

/** What is published, as it stands; null where nothing is. Throws when Redis cannot be reached. */
export async function readPublishedSurge(redis: Redis, prefix: string): Promise<string | null> {
  return await redis.get(surgeKey(prefix));
}

/**
 * `KEYS[1]`: the multiplier; what it was smoothed from is beside it. ARGV: what it follows from
 * ("" for nothing), what it is smoothed to, the multiplier, and how long each is kept in ms.
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
