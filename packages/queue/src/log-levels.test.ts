import { startTestRedis } from '@svc/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { clearLogLevel, createLogLevelFollower, readLogLevel, setLogLevel } from './log-levels.ts';
import { closeRedis, connectRedis, waitForRedis } from './redis.ts';

const prefix = 'test';
let server: Awaited<ReturnType<typeof startTestRedis>>;
let redis: ReturnType<typeof connectRedis>;
let advancedMs = 0;

beforeAll(async () => {
  server = await startTestRedis();
  redis = connectRedis(server.redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
});
beforeEach(async () => {
  await redis.flushall();
});
afterAll(async () => {
  await closeRedis(redis);
  await server.close();
});

function startProcess(service = 'gateway', connection = redis) {
  const applied: (string | null)[] = [];
  const errors: object[] = [];
  const logger = { info() {}, warn: (fields: object) => void errors.push(fields), error() {} };
  const poll = createLogLevelFollower({
    redis: connection,
    prefix,
    service,
    monotonicMs: () => performance.now() + advancedMs,
    apply: (level) => void applied.push(level),
    logger,
  });
  return { poll, applied, errors };
}

test('a level reaches every process of its service, and no other service', async () => {
  const [one, two, other] = [startProcess(), startProcess(), startProcess('webhooks')];
  await setLogLevel(redis, prefix, 'gateway', { level: 'debug', durationMs: 60_000 });
  expect(await readLogLevel(redis, prefix, 'gateway')).toMatchObject({ processes: 0 });
  for (const { poll } of [one, one, two, other]) await poll();
  expect([one.applied, two.applied, other.applied]).toEqual([['debug'], ['debug'], []]);
  expect(await readLogLevel(redis, prefix, 'gateway')).toMatchObject({
    level: 'debug',
    processes: 2,
  });
});

test('a second level replaces the first, and clearing restores the configured one', async () => {
  const { poll, applied } = startProcess();
  await setLogLevel(redis, prefix, 'gateway', { level: 'trace', durationMs: 60_000 });
  await poll();
  await setLogLevel(redis, prefix, 'gateway', { level: 'warn', durationMs: 60_000 });
  await poll();
  await clearLogLevel(redis, prefix, 'gateway');
  await poll();
  expect(applied).toEqual(['trace', 'warn', null]);
});

test('a level ends by the clock of Redis', async () => {
  const { poll, applied } = startProcess();
  await setLogLevel(redis, prefix, 'gateway', { level: 'debug', durationMs: 300 });
  await poll();
  await expect.poll(() => readLogLevel(redis, prefix, 'gateway')).toBe(null);
  await poll();
  expect(applied).toEqual(['debug', null]);
  // A process that applies a level writes to the key of the level. If the key has expired, the
  // write must not create it again.
  expect(await redis.keys('*')).toEqual([]);
});

test('without Redis a level ends after its time by the clock of the process', async () => {
  const connection = connectRedis(server.redisUrl, 'producer');
  await waitForRedis(connection, 5_000);
  const { poll, applied } = startProcess('gateway', connection);
  await setLogLevel(redis, prefix, 'gateway', { level: 'debug', durationMs: 60_000 });
  await poll();
  await closeRedis(connection);
  advancedMs += 30_000;
  await poll();
  expect(applied).toEqual(['debug']);
  advancedMs += 30_000;
  await poll();
  expect(applied).toEqual(['debug', null]);
});

test('a process that starts after a level was set keeps its configured level', async () => {
  await setLogLevel(redis, prefix, 'gateway', { level: 'debug', durationMs: 60_000 });
  await redis.hincrby(`{${prefix}}:log-level:gateway`, 'setAtMs', -1_100);
  const { poll, applied } = startProcess();
  await poll();
  expect(applied).toEqual([]);
  expect(await readLogLevel(redis, prefix, 'gateway')).toMatchObject({ processes: 0 });
  await setLogLevel(redis, prefix, 'gateway', { level: 'debug', durationMs: 60_000 });
  await poll();
  expect(applied).toEqual(['debug']);
});

test('a level that is set at the start applies, although the question travels for a while', async () => {
  const { poll, applied } = startProcess();
  await setLogLevel(redis, prefix, 'gateway', { level: 'debug', durationMs: 60_000 });
  await redis.hincrby(`{${prefix}}:log-level:gateway`, 'setAtMs', -500);
  await poll();
  expect(applied).toEqual(['debug']);
});

test('an unreadable level leaves the process as it is, with a warning', async () => {
  const { poll, applied, errors } = startProcess();
  await redis.set(`{${prefix}}:log-level:gateway`, 'not a hash');
  await poll();
  expect(applied).toEqual([]);
  expect(errors).toHaveLength(1);
});
