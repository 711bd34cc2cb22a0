import { createTestDatabase, startTestRedis, testMasterKey } from '@svc/testkit';
import { afterAll } from 'vitest';
import { openRig, type Rig } from './rig.ts';

export async function useRig(): Promise<Rig> {
  const [database, redis] = await Promise.all([createTestDatabase(), startTestRedis()]);
  const { databaseUrl, ownerUrl } = database;
  const masterKey = testMasterKey();
  const rig = await openRig({ databaseUrl, ownerUrl, redisUrl: redis.redisUrl, masterKey });
  afterAll(async () => {
    await rig.close();
    await database.close();
    await redis.close();
  });
  return rig;
}
