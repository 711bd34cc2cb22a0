import { queues } from '@svc/contracts';
import type { Redis } from 'ioredis';
import { redisScript } from './redis-script.ts';
import { keyPrefix } from './redis.ts';

/**
 * While a wake-up job waits, no further one is enqueued: `joinWaitingWakeUp` adds tenants to a set
 * for the waiting job. So a backlog fills neither the queue nor Redis.
 */

/**
 * The set of tenants expires this long after the last addition to it. Deliverers then find the due
 * deliveries of these tenants in Postgres.
 */
const wakeUpSetMsMax = 10_000;
/**
 * A set of this size takes no more tenants. Deliverers find the deliveries of further tenants in
 * Postgres.
 */
const wakeUpTenantsMax = 4_096;
const takenMax = 1_024;

const waitingKey = `${queues.webhook.name}:wait`;
const pausedKey = `${queues.webhook.name}:paused`;
const wakeUpSetKey = 'webhook-alarms';

/**
 * Does the work of `joinWaitingWakeUp`. KEYS[1] is the common prefix of all keys. Returns 1 if no
 * wake-up job waits, otherwise 0.
 */
const joinScript = redisScript(`
local waiting = redis.call('LLEN', KEYS[1] .. '${waitingKey}') + redis.call('LLEN', KEYS[1] .. '${pausedKey}')
if waiting == 0 then return 1 end
local tenants = KEYS[1] .. '${wakeUpSetKey}'
if redis.call('SCARD', tenants) < tonumber(ARGV[2]) then
  redis.call('SADD', tenants, unpack(ARGV, 3))
  redis.call('PEXPIRE', tenants, ARGV[1])
end
return 0
`);

/**
 * Adds tenants to the set of the waiting wake-up job, unless the set is full. If no job waits, adds
 * nothing and returns false: the caller must then enqueue one.
 */
export async function joinWaitingWakeUp(
  redis: Redis,
  prefix: string,
  tenantIds: readonly string[],
): Promise<boolean> {
  const args = [wakeUpSetMsMax, wakeUpTenantsMax, ...tenantIds];
  return (await joinScript(redis, `${keyPrefix(prefix)}:`, args)) === 0;
}

/**
 * Takes at most `takenMax` tenants from the set of `joinWaitingWakeUp`. To miss no delivery, a
 * wake-up job must call this before it queries due deliveries.
 */
export function takeWakeUpTenants(redis: Redis, prefix: string): Promise<string[]> {
  return redis.spop(`${keyPrefix(prefix)}:${wakeUpSetKey}`, takenMax);
}
