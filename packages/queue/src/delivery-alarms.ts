import { queues } from '@svc/contracts';
import type { Redis } from 'ioredis';
import { redisScript } from './redis-script.ts';
import { keyPrefix } from './redis.ts';

/**
 * While a job waits on the webhook queue, tenants that are announced join a set beside it, and
 * whoever takes the job takes the set with it: so one job rings for all tenants that were told of
 * meanwhile, however many deliveries are due. Those wait in Postgres, and neither the queue nor
 * Redis's memory follows a backlog.
 */

/** A set that nobody took in this time is forgotten: deliverers find by themselves what is due. */
const alarmMsMax = 10_000;
/** With so many tenants in the set, deliverers are away or busy, and find the others by themselves. */
const alarmedTenantsMax = 4_096;
const takenMax = 1_024;

const waitingKey = `${queues.webhook.name}:wait`;
const pausedKey = `${queues.webhook.name}:paused`;
const alarmedKey = 'webhook-alarms';

/** ARGV: how long the set is kept, in ms; tenants in it at most; tenants. 1: a job has to be put. */
const joinScript = redisScript(`
local waiting = redis.call('LLEN', KEYS[1] .. '${waitingKey}') + redis.call('LLEN', KEYS[1] .. '${pausedKey}')
if waiting == 0 then return 1 end
local alarmed = KEYS[1] .. '${alarmedKey}'
if redis.call('SCARD', alarmed) < tonumber(ARGV[2]) then
  redis.call('SADD', alarmed, unpack(ARGV, 3))
  redis.call('PEXPIRE', alarmed, ARGV[1])
end
return 0
`);

/** False where no job waits that would ring for these tenants: one has to be put on the queue. */
export async function joinWaitingAlarm(
  redis: Redis,
  prefix: string,
  tenantIds: readonly string[],
): Promise<boolean> {
  const args = [alarmMsMax, alarmedTenantsMax, ...tenantIds];
  return (await joinScript(redis, `${keyPrefix(prefix)}:`, args)) === 0;
}

/**
 * The tenants that joined the job in hand. To be called with it in hand, before Postgres is asked
 * what is due: who is told of from then on rings anew. What is left over rings with the next job.
 */
export function takeAlarms(redis: Redis, prefix: string): Promise<string[]> {
  return redis.spop(`${keyPrefix(prefix)}:${alarmedKey}`, takenMax);
}
