import { queues } from '@svc/contracts';
import type { Redis } from 'ioredis';
import { redisScript } from './redis-script.ts';
import { keyPrefix } from './redis.ts';

/**
 * A backlog of deliveries must fill neither the queue nor the memory of Redis. The deliveries
 * therefore stay in Postgres, and one wake-up job on the webhook queue serves many tenants. While
 * the job waits, further tenants with due deliveries join a set. The deliverer that takes the job
 * also takes up to `takenMax` tenants of the set.
 */

/**
 * The set expires this long after tenants were last added to it. If it has expired, deliverers find
 * the due deliveries in Postgres.
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
 * Adds tenants to the set `webhook-alarms` if a job waits, unless the set is full. KEYS[1]: the
 * common prefix of all keys. ARGV: lifetime of the set in ms, its size limit, tenants. Returns 1 if
 * no job waits, otherwise 0.
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
 * Adds tenants to the set of the waiting wake-up job, and returns true. If the set is full
 * (`wakeUpTenantsMax`), adds nothing but also returns true, because deliverers find the deliveries
 * of further tenants in Postgres. If no wake-up job waits, adds nothing and returns false, so the
 * caller must enqueue one.
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
 * Takes up to 1,024 tenants from the set of those that joined the current wake-up job. The others
 * stay in the set for the next job. Call this in the handler of the job, before the query for due
 * deliveries. A tenant whose delivery becomes due after this call joins a new job, so no delivery
 * is missed.
 */
export function takeWakeUpTenants(redis: Redis, prefix: string): Promise<string[]> {
  return redis.spop(`${keyPrefix(prefix)}:${wakeUpSetKey}`, takenMax);
}
