import { surgeMaxMicros, surgeNoneMicros } from '@svc/domain';
import { type connectRedis, readPublishedSurge, redisIsReady } from '@svc/queue';
import type { Logger } from '@svc/runtime';

/**
 * The surge multiplier in force, in millionths; none where none is published or Redis does not
 * answer, as reads go on without it (CONTRACT 2).
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
    logger.warn({ err: error }, 'the surge multiplier could not be read');
    return surgeNoneMicros;
  }
}

/** Anything but a multiplier from 1 to the highest one counts as none. */
export function parseSurge(text: string | null): bigint {
  if (text === null || !/^[0-9]{7}$/.test(text)) return surgeNoneMicros;
  const micros = BigInt(text);
  return micros < surgeNoneMicros || micros > surgeMaxMicros ? surgeNoneMicros : micros;
}
