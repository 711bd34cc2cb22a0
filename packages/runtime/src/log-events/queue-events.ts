import { actions, error, type LogEvent, saying, warn } from './definition.ts';

export const queueEvents = {
  'redis.connection_failed': warn('redis connection error', ['err', 'role'], actions.redis),
  'redis.environment_check_failed': warn(
    'could not check which environment this Redis belongs to',
    ['err'],
    actions.redis,
  ),
  'redis.environment_lost': saying(
    'error',
    'why this service must not use this Redis: it belongs to the other environment, sandbox or production',
    ['found'],
    'Stop the services of the environment that must not use this Redis. Correct their `REDIS_URL`.',
  ),
  'redis.heartbeat_failed': warn(
    'could not send the heartbeat of the service',
    ['err'],
    actions.redis,
  ),
  'redis.log_level_read_failed': warn(
    'could not read the log level of the service',
    ['err'],
    actions.redis,
  ),
  'redis.rate_limit_unshared': warn(
    'could not use the rate limits in Redis; this gateway counts requests by itself for 1 s',
    ['err'],
    'Check Redis. Until it answers, each gateway allows the whole rate of a tenant.',
  ),
  'redis.rate_limit_refund_failed': warn(
    'could not return a rate limit token to Redis',
    ['err'],
    actions.redis,
  ),
  'redis.reply_subscription_failed': warn(
    'could not subscribe to the replies of dispatchers',
    ['err', 'channel'],
    'Check Redis and its access rules. Until the subscription succeeds, answers to creations may be up to 1 s late.',
  ),
  'redis.bus_messages_malformed': warn(
    'dropped malformed bus messages',
    ['channel', 'malformed'],
    'Check that only processes of this service publish to this Redis, and that they all run a supported version.',
  ),
  'redis.bus_message_failed': error(
    'could not handle a bus message',
    ['err', 'kind'],
    actions.defect,
  ),
  'redis.bus_subscription_failed': warn(
    'could not subscribe to bus messages',
    ['err'],
    actions.redis,
  ),
  'queue.connection_failed': warn('queue error', ['err', 'queue'], actions.redis),
  'queue.worker_failed': warn('the queue worker had an error', ['err', 'queue'], actions.redis),
  'queue.worker_restarted': error(
    'the queue worker failed and is restarted',
    ['err', 'queue'],
    actions.redis,
  ),
  'queue.job_failed': error(
    'job failed',
    ['err', 'queue', 'jobId', 'attempt'],
    'Read `err`. A reconciler finds the work of the job in Postgres. `svc queue status` counts failed jobs.',
  ),
  'queue.job_stalled': warn(
    'job stalled',
    ['queue', 'jobId'],
    'Check whether a process died or paused. The job runs again, or a reconciler finds its work.',
  ),
  'queue.closed_with_jobs': warn(
    'the consumer closed before its jobs ended; a reconciler will find their work',
    ['queue', 'inProgress'],
    'Nothing: Postgres has the work, and a reconciler finds it.',
  ),
} as const satisfies Record<string, LogEvent>;
