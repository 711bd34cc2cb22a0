import { closeRedis, connectRedis, waitForRedis } from '@svc/queue';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { openStore } from '@svc/store';
import { createTestDatabase, startTestRedis, testMasterKey } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { missingForAll } from './readiness.ts';

test('a Redis that keeps connections open and answers nothing is missing', async () => {
  const [database, server] = await Promise.all([createTestDatabase(), startTestRedis()]);
  const sealer = createSealer(openKeyring(testMasterKey()));
  const store = openStore({ databaseUrl: database.databaseUrl, sealer, newId });
  const redis = connectRedis(server.redisUrl, 'producer');
  onTestFinished(async () => {
    await Promise.all([closeRedis(redis), store.close()]);
    await Promise.all([server.close(), database.close()]);
  });
  await waitForRedis(redis, 5_000);
  expect(await missingForAll(store, redis)).toEqual([]);

  await redis.client('PAUSE', 60_000, 'ALL');
  expect(await missingForAll(store, redis)).toEqual(['redis']);
});
