import { createFleetRegistry } from '@svc/queue';
import { waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import { useDispatching } from '../dispatcher.fixture.ts';

const service = await useDispatching();

test('a refresh that fails is repeated, and the registry has the links again', async () => {
  const node = await service.connect({ slots: 3 });
  const registry = createFleetRegistry({ redis: service.redis, prefix: service.prefix });
  const key = `{${service.prefix}}:fleet:dispatchers`;
  expect(await registry.capacity()).toEqual({ slots: 3, free: 3 });
  expect(await service.redis.exists(key)).toBe(1);
  // The key gets another type, so each refresh fails.
  await service.redis.flushall();
  await service.redis.set(key, 'not a sorted set');
  await waitUntil(async () => (await failedRefreshes()) > 1);
  await service.redis.del(key);
  await waitUntil(async () => (await registry.capacity()).slots === 3);
  await node.close();
});

async function failedRefreshes(): Promise<number> {
  const stats = await service.redis.info('errorstats');
  return Number(/errorstat_WRONGTYPE:count=(\d+)/.exec(stats)?.[1] ?? 0);
}
