import { createTestDatabase, startTestRedis, testMasterKey } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { checkFleet } from './property.ts';
import { openRig } from './rig.ts';

const seed = Number(process.env['FLEET_SEED'] ?? Date.now() % 1_000_000);
const runs = 60;

/** All runs together must have at least this many. With fewer, the test would prove nothing. */
const atLeast = { submissions: 300, executed: 120 };

test(`whatever happens to the fleet, a submission is executed at most once and ends (FLEET_SEED=${seed})`, async () => {
  const [database, redis] = await Promise.all([createTestDatabase(), startTestRedis()]);
  onTestFinished(async () => {
    await database.close();
    await redis.close();
  });
  const { databaseUrl, ownerUrl } = database;
  const rig = await openRig({
    databaseUrl,
    ownerUrl,
    redisUrl: redis.redisUrl,
    masterKey: testMasterKey(),
  });
  const report = await checkFleet({ rig, runs, seed });
  await rig.close();
  expect(report.fault).toBeUndefined();
  expect(report.runs).toBe(runs);
  expect(report.submissions).toBeGreaterThanOrEqual(atLeast.submissions);
  expect(report.executed).toBeGreaterThanOrEqual(atLeast.executed);
}, 600_000);
