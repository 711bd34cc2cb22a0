import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startRedis } from '@svc/local';
import { Redis } from 'ioredis';

export interface TestRedis {
  readonly redisUrl: string;
  /** FLUSHALL: everything in Redis is gone, as it may be at any time (docs/decisions/0001). */
  flush(): Promise<void>;
  /** Ends the server and removes its files. */
  close(): Promise<void>;
}

/** A Redis server of the caller's own (some 20 ms), set up as the embedded one. */
export async function startTestRedis(): Promise<TestRedis> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-test-redis-'));
  const server = await startRedis({ dir, durable: false });
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
