import { startTestRedis, type TestRedis, waitUntil } from '@svc/testkit';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { guardRedis, type RedisGuard, type RedisGuardOptions } from './environment-mark.ts';
import type { QueueLogger } from './redis.ts';

let server: TestRedis;
let plain: Redis;
let errors: string[];
const guards: RedisGuard[] = [];
const logger: QueueLogger = {
  info: () => {},
  warn: () => {},
  error: (_fields, message) => void errors.push(message),
};

beforeEach(async () => {
  server = await startTestRedis();
  plain = new Redis(server.redisUrl);
  errors = [];
});
afterEach(async () => {
  for (const one of guards.splice(0)) await one.close();
  plain.disconnect();
  await server.close();
});

class Refused extends Error {}

const refuse = (reason: string): never => {
  throw new Refused(reason);
};

async function guard(
  environment: RedisGuardOptions['environment'],
  intervalMs = 20,
): Promise<RedisGuard> {
  const { redisUrl } = server;
  const made = await guardRedis({ redisUrl, environment, logger, refuse, intervalMs });
  guards.push(made);
  return made;
}

const mark = () => plain.get('svc:environment');

test('the first service marks a Redis, and one of the other environment is refused', async () => {
  await guard('production');
  await guard('production');
  await expect(guard('sandbox')).rejects.toThrow(
    'The Redis at REDIS_URL belongs to production, but SVC_ENVIRONMENT is sandbox',
  );
  expect(await mark()).toBe('production');
});

test('the mark stays when no service is connected any more', async () => {
  await (await guard('sandbox')).close();
  await expect(guard('production')).rejects.toBeInstanceOf(Refused);
});

test('after FLUSHALL the mark is set again', async () => {
  await guard('sandbox');
  await server.flush();
  expect(await waitUntil(async () => (await mark()) === 'sandbox')).toBe(true);
});

test('right after FLUSHALL, a service of the other environment is refused too', async () => {
  // The interval is so long that this guard does not set the mark again during the test.
  await guard('production', 60_000);
  await server.flush();
  await expect(guard('sandbox')).rejects.toThrow('belongs to production');
  expect(await mark()).toBeNull();
  await guard('production');
  expect(await mark()).toBe('production');
});

test('a service that had the mark keeps working if another takes it, and logs an error', async () => {
  await guard('production');
  await plain.set('svc:environment', 'sandbox');
  await waitUntil(() => errors.length > 0);
  expect(errors[0]).toContain('belongs to sandbox');
  await plain.del('svc:environment');
  expect(await waitUntil(async () => (await mark()) === 'production')).toBe(true);
});
