import { surgeMaxMicros, surgeNoneMicros } from '@svc/domain';
import { type connectRedis, readPublishedSurge, redisIsReady } from '@svc/queue';
import type { Logger } from '@svc/runtime';

/**
 * The surge multiplier in force, in millionths. Returns `surgeNoneMicros` if Redis fails, because
 * read requests must work without Redis (CONTRACT 2).
 */
export async function currentSurgeMicros(
  redis: ReturnType<typeof connectRedis>,
  redisPrefix: string,
  logger: Logger,
): Promise<bigint> {
  if (!redisIsReady(redis)) return surgeNoneMicros;
  try {
    return parseSurge(await readPublishedSurge(redis, redisPrefix));
  } catch (error) {
    logger.warn({ err: error }, 'could not read the surge multiplier');
    return surgeNoneMicros;
  }
}

/**
 * Parses a published multiplier, in millionths. Returns `surgeNoneMicros` if `text` is not a whole
 * number from `surgeNoneMicros` to `surgeMaxMicros`.
 */
export function parseSurge(text: string | null): bigint {
  if (text === null || !/^[0-9]{7}$/.test(text)) return surgeNoneMicros;
  const micros = BigInt(text);
  return micros < surgeNoneMicros || micros > surgeMaxMicros ? surgeNoneMicros : micros;
}
