import { actions, error, info, type LogEvent, warn } from './definition.ts';

const requestMembers = [
  'requestId',
  'method',
  'route',
  'tenantId',
  'operatorId',
  'status',
  'code',
  'submissionId',
  'deliveryId',
  'durationMs',
] as const;

export const gatewayEvents = {
  'gateway.request_answered': info('request', requestMembers),
  'gateway.request_abandoned': info('request abandoned', requestMembers),
  'gateway.request_malformed': info('refused a request that is malformed, too large or too slow', [
    'requestId',
    'code',
    'reason',
  ]),
  'gateway.request_lines_left_out': info('some log lines about requests were left out', [
    'leftOut',
  ]),
  'gateway.request_failed': error(
    'request failed',
    ['err', 'requestId', 'route'],
    'Report the line with its stack: it is a defect. The client got `500` with this `requestId`.',
  ),
  'gateway.dependency_unavailable': warn(
    'a dependency is unavailable',
    ['err', 'requestId', 'route'],
    'Run `svc doctor`, and check Postgres and Redis. The client got `503` and can try again.',
  ),
  'gateway.drain_timed_out': warn(
    'connections were still open at the drain timeout and were closed',
    ['drainTimeoutMs'],
    'Nothing: tenants repeat requests without an answer. The idempotency key prevents a second submission.',
  ),
  'gateway.key_uses_not_stored': warn(
    'could not store the times at which keys were last used',
    ['err'],
    actions.postgres,
  ),
  'gateway.key_tampered': error(
    'the limits of a key were changed in the database; the key is refused',
    ['tenantId', 'keyId'],
    'Treat it as an intrusion: somebody wrote to Postgres without the master key. Find out who, then delete the key and create another one.',
  ),
  'gateway.announcement_failed': warn(
    'could not notify other services of a committed change',
    ['err', 'requestId', 'submissionId', 'deliveryId'],
    actions.redis,
  ),
  'gateway.surge_read_failed': warn(
    'could not read the surge multiplier',
    ['err'],
    'Check Redis. Until it answers, quotes have no surge.',
  ),
  'gateway.purchase_intents_read_failed': warn(
    'could not read the purchase intents that requests wait for',
    ['err'],
    actions.postgres,
  ),
  'gateway.dispatch_enqueue_failed': warn(
    'could not enqueue the dispatch job',
    ['err', 'requestId', 'submissionId'],
    'Check Redis. If no node has accepted the submission, the gateway has released the hold and answered `503`.',
  ),
  'gateway.events_read_failed': warn(
    'could not read the events that requests wait for',
    ['err'],
    actions.postgres,
  ),
} as const satisfies Record<string, LogEvent>;
