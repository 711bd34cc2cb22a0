import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startRedis } from '@svc/local';
import { Redis } from 'ioredis';

export interface TestRedis {
  readonly redisUrl: string;
  /** Deletes all data with FLUSHALL. The service must survive such a loss (decision 1). */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a new Redis server in about 20 ms. If `isClustered` is true, the server is in cluster
 * mode, and the caller must assign the hash slots.
 */
export async function startTestRedis({ isClustered = false } = {}): Promise<TestRedis> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-test-redis-'));
  const server = await startRedis({ dir, durable: false, isClustered });
  return {
    redisUrl: server.url,
    flush: () => flushAll(server.url),
    async close() {
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function flushAll(url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true });
  try {
    await redis.connect();
    await redis.flushall();
  } finally {
    redis.disconnect();
  }
}
