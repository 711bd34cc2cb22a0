import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

export type RedisScript = (
  redis: Redis,
  key: string,
  args: readonly (string | number)[],
) => Promise<unknown>;

/**
 * A Lua script over one key or one common prefix of keys. The client sends the full text only if
 * Redis does not have the script.
 */
export function redisScript(lua: string): RedisScript {
  const hash = createHash('sha1').update(lua).digest('hex');
  return async (redis, key, args) => {
    try {
      return await redis.evalsha(hash, 1, key, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return await redis.eval(lua, 1, key, ...args);
    }
  };
}
