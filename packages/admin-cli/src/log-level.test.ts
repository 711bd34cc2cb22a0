import { createLogLevelFollower, closeRedis, connectRedis, waitForRedis } from '@svc/queue';
import {
  bareEnvironment,
  createTestDatabase,
  runSvc,
  startTestRedis,
  testMasterKey,
} from '@svc/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let server: Awaited<ReturnType<typeof startTestRedis>>;
let redis: ReturnType<typeof connectRedis>;

beforeAll(async () => {
  [database, server] = await Promise.all([createTestDatabase(), startTestRedis()]);
  redis = connectRedis(server.redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
});
beforeEach(async () => {
  await redis.flushall();
});
afterAll(async () => {
  await closeRedis(redis);
  await Promise.all([server.close(), database.close()]);
});

const svc = (...words: string[]) =>
  runSvc(['log-level', ...words], {
    ...bareEnvironment(),
    DATABASE_URL: database.databaseUrl,
    REDIS_URL: server.redisUrl,
    SVC_MASTER_KEY: testMasterKey(),
  });

async function records(...words: string[]): Promise<unknown[]> {
  const { code, stdout, stderr } = await svc(...words, '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

test('a level is set for ten minutes, applied, shown, ended and audited', async () => {
  const idle = { level: 'configured', leftSeconds: null, applied: null, running: 0 };
  expect(await records()).toEqual(
    ['gateway', 'dispatcher', 'settlement', 'webhooks'].map((service) => ({ service, ...idle })),
  );
  const applied: unknown[] = [];
  const poll = createLogLevelFollower({
    redis,
    prefix: 'svc',
    service: 'webhooks',
    monotonicMs: () => performance.now(),
    apply: (level) => void applied.push(level),
    logger: { info() {}, warn() {}, error() {} },
  });
  expect(await records('webhooks', 'debug')).toMatchObject([{ level: 'debug', applied: 0 }]);
  await poll();
  const [shown] = await records('webhooks');
  expect(shown).toMatchObject({ service: 'webhooks', level: 'debug', applied: 1 });
  expect(shown).toHaveProperty('leftSeconds', expect.closeTo(600, -2));
  await records('webhooks', 'trace', '--for', '24h');
  expect((await svc('webhooks')).stdout).toMatch(/webhooks +trace +(24 h|23 h 59 m) /);
  expect(await records('webhooks', 'configured')).toEqual([{ service: 'webhooks', ...idle }]);
  await poll();
  expect(applied).toEqual(['debug', null]);
  const entries = await database.query(
    "SELECT action, before, after FROM audit_log WHERE subject_id = 'log-level:webhooks' ORDER BY id",
  );
  expect(entries).toEqual([
    { action: 'log_level.set', before: null, after: { level: 'debug', seconds: 600 } },
    {
      action: 'log_level.set',
      before: { level: 'debug' },
      after: { level: 'trace', seconds: 86_400 },
    },
    { action: 'log_level.clear', before: { level: 'trace' }, after: null },
  ]);
});

test.each([
  [['gatway', 'debug'], 'one of gateway, dispatcher, settlement, webhooks'],
  [['gateway', 'silent'], 'one of trace, debug, info, warn, error, configured'],
  [['gateway', 'debug', '--for', '25h'], 'from 10s to 24h'],
  [['gateway', 'debug', '--for', '9s'], 'from 10s to 24h'],
  [['gateway', '--for', '1h'], 'needs a service and a level'],
  [['gateway', 'configured', '--for', '1h'], 'needs a service and a level'],
])('svc log-level %s is wrong usage and changes nothing', async (words, sentence) => {
  const { code, stderr } = await svc(...words);
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
  expect(await redis.keys('*log-level*')).toEqual([]);
});
