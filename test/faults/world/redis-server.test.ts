import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRedis } from './redis-server.ts';

test('a Redis that refuses its own file, as after a full disk, starts without it', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-redis-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const redis = await openRedis(dir);
  onTestFinished(() => redis.stop());
  await redis.command('SET kept 1');
  await redis.kill();
  const files = path.join(dir, 'appendonlydir');
  const log = readdirSync(files).find((name) => name.endsWith('.incr.aof')) ?? '';
  appendFileSync(path.join(files, log), 'half of a command, and more after it\r\n');
  await redis.start();
  expect(await redis.command('GET kept')).toBe('$-1\r\n');
});
