import { queues } from '@svc/contracts';
import type { Redis } from 'ioredis';
import { redisScript } from './redis-script.ts';
import { keyPrefix } from './redis.ts';

/**
 * Of each tenant at most one alarm waits on the webhook queue, however many of its deliveries are
 * due: they wait in Postgres, and neither the queue nor Redis's memory follows a backlog.
 */

/** An alarm that nobody took in this time (its job was lost) no longer stands for later ones. */
const alarmMsMax = 10_000;
/** While this many jobs wait, deliverers are away or busy, and find by themselves what is due. */
const waitingJobsMax = 256;

const waitingKey = `${queues.webhook.name}:wait`;
const pausedKey = `${queues.webhook.name}:paused`;
const alarmKey = 'webhook-alarm:';

/** ARGV: how long an alarm stands, in ms; jobs that may wait; tenants. Answers those to be rung for. */
const admitScript = redisScript(`
local waiting = redis.call('LLEN', KEYS[1] .. '${waitingKey}') + redis.call('LLEN', KEYS[1] .. '${pausedKey}')
if waiting >= tonumber(ARGV[2]) then return {} end
local admitted = {}
for i = 3, #ARGV do
  if redis.call('SET', KEYS[1] .. '${alarmKey}' .. ARGV[i], '1', 'PX', ARGV[1], 'NX') then
    admitted[#admitted + 1] = ARGV[i]
  end
end
return admitted
`);

/** Those of the tenants for whom no alarm waits yet. */
export async function admitAlarms(
  redis: Redis,
  prefix: string,
  tenantIds: readonly string[],
): Promise<string[]> {
  const key = `${keyPrefix(prefix)}:`;
  const admitted: unknown = await admitScript(redis, key, [
    alarmMsMax,
    waitingJobsMax,
    ...tenantIds,
  ]);
  return Array.isArray(admitted) ? admitted.map(String) : [];
}

/**
 * From now on these tenants are rung for anew. To be called with the alarm in hand, before
 * Postgres is asked what is due: what is committed later rings again.
 */
export async function takeAlarms(
  redis: Redis,
  prefix: string,
  tenantIds: readonly string[],
): Promise<void> {
  await redis.del(tenantIds.map((id) => `${keyPrefix(prefix)}:${alarmKey}${id}`));
}
