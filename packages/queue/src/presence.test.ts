import { startTestRedis } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { announceService, listServices } from './presence.ts';
import { parseInfo, readRedisHealth } from './redis-health.ts';
import { closeRedis, connectRedis, waitForRedis } from './redis.ts';

const prefix = 'test';
const logger = { info() {}, warn() {}, error() {} };
const facts = { version: '1.0.0', schema: '2026_last', poolMax: 7 };
let server: Awaited<ReturnType<typeof startTestRedis>>;
let redis: ReturnType<typeof connectRedis>;

beforeAll(async () => {
  server = await startTestRedis();
  redis = connectRedis(server.redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
});
afterAll(async () => {
  await closeRedis(redis);
  await server.close();
});

test('a process announces its facts and its clock, and leaves nothing behind', async () => {
  const announced = announceService({ redis, prefix, service: 'gateway', facts, logger });
  await expect.poll(() => listServices(redis, prefix)).toHaveLength(1);
  const [found] = await listServices(redis, prefix);
  expect(found).toMatchObject({ service: 'gateway', pid: process.pid, facts });
  // Redis runs on this machine and uses the same clock. The measured difference is only the time
  // that the heartbeat took.
  expect(Math.abs(found?.clockAheadMs ?? Number.NaN)).toBeLessThan(5_000);
  await announced.close();
  expect(await listServices(redis, prefix)).toEqual([]);
  expect(await redis.keys('*')).toEqual([]);
});

test('a process of an earlier version is listed without facts', async () => {
  const instance = { service: 'webhooks', host: 'a', pid: 1, startedAt: '2026-11-22T00:00:00Z' };
  const [seconds] = await redis.time();
  await redis.zadd(`{${prefix}}:services`, Number(seconds) * 1_000, JSON.stringify(instance));
  const [found] = await listServices(redis, prefix);
  expect(found).toMatchObject({ ...instance, clockAheadMs: null });
  expect(found).not.toHaveProperty('facts');
});

test('Redis tells its policy, its file and its clock', async () => {
  const health = await readRedisHealth(redis);
  expect(health).toMatchObject({ maxmemoryPolicy: 'noeviction', isWritten: true, maxBytes: 0 });
  expect(health.isAppendOnly).toBeTypeOf('boolean');
  expect(Math.abs(health.nowMs - Date.now())).toBeLessThan(5_000);
});

test('a file that could not be written and settings that are not told are recognised', () => {
  expect(parseInfo('aof_enabled:1\r\naof_last_write_status:err\r\n')).toMatchObject({
    isAppendOnly: true,
    isWritten: false,
  });
  expect(parseInfo('# Server\r\n')).toEqual({
    version: null,
    maxmemoryPolicy: null,
    isAppendOnly: null,
    isWritten: null,
    usedBytes: null,
    maxBytes: null,
  });
});
