import { actions, debug, error, info, type LogEvent, warn } from './definition.ts';

export const webhooksEvents = {
  'webhooks.delivery_attempted': info('webhook attempted', [
    'requestId',
    'deliveryId',
    'eventId',
    'type',
    'attemptNumber',
    'statusCode',
    'durationMs',
    'error',
    'verdict',
  ]),
  'webhooks.claim_failed': error(
    'could not claim due deliveries',
    ['err', 'endpoints'],
    actions.postgres,
  ),
  'webhooks.attempt_not_recorded': error(
    'could not record the result of a webhook attempt',
    ['err', 'deliveryId'],
    'Nothing at first: the attempt counts as made. The next attempt follows, if any are left. If the line repeats, check Postgres.',
  ),
  'webhooks.endpoints_tidied': info(
    'tidied webhook endpoints: `dropped` counts events that a poll endpoint no longer keeps, `deleted` counts retired endpoints',
    ['dropped', 'deleted'],
  ),
  'webhooks.deliveries_exhausted': info('marked deliveries as exhausted after 72 hours', ['count']),
  'webhooks.exhaustion_failed': warn(
    'could not mark a delivery as exhausted',
    ['err', 'deliveryId'],
    actions.retried,
  ),
  'webhooks.pause_unread': debug('could not read whether the webhook queue is paused', ['err']),
} as const satisfies Record<string, LogEvent>;
