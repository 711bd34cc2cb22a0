import { closeRedis, connectRedis, createProducer, type Producer, waitForRedis } from '@svc/queue';
import { type CommonConfig, createLogger } from '@svc/runtime';
import { openFixture } from '@svc/store/fixture';
import { startTestRedis, type TestDatabaseOptions, testMasterKey } from '@svc/testkit';

export const silent = createLogger({ service: 'test', level: 'silent' });

export async function openWorkerFixture(options: TestDatabaseOptions = {}) {
  const fixture = await openFixture(options);
  const redis = await startTestRedis();
  const connection = connectRedis(redis.redisUrl, 'producer', silent);
  await waitForRedis(connection, 5_000);
  const producer: Producer = createProducer({ redis: connection, prefix: 'test', logger: silent });
  const config: CommonConfig = {
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: fixture.database.databaseUrl,
    DATABASE_ALLOW_ASYNC_STANDBY: '0',
    DATABASE_POOL_MAX: 10,
    DATABASE_BATCH_MAX: 64,
    DATABASE_CONNECT_TIMEOUT_MS: 5_000,
    DATABASE_ANSWER_TIMEOUT_MS: 15_000,
    REDIS_URL: redis.redisUrl,
    SVC_MASTER_KEY: testMasterKey(),
    REDIS_PREFIX: 'test',
    LOG_LEVEL: 'silent',
    RECONCILE_INTERVAL_MS: 50,
    ADMIN_HOST: '127.0.0.1',
    ADMIN_PORT: 0,
  };
  return {
    ...fixture,
    redis,
    connection,
    producer,
    config,
    async close(): Promise<void> {
      await producer.close();
      await closeRedis(connection);
      await fixture.close();
      await redis.close();
    },
  };
}
