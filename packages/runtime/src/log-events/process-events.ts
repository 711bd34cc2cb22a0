import { actions, error, info, type LogEvent, saying, warn } from './definition.ts';

export const processEvents = {
  'process.ready': info('ready', ['port', 'adminPort']),
  'process.stopping': info('stopping', ['why']),
  'process.stopped': info('stopped'),
  'process.log_level_changed': info('log level changed', ['logLevel']),
  'process.cannot_start': saying(
    'fatal',
    'why the service cannot start',
    [],
    'Do what the message says, then start the service again.',
  ),
  'process.failed': {
    level: 'fatal',
    message: 'fatal error',
    members: ['err'],
    action:
      'Read `err`. If it names a port, an address, a password or a database, correct the configuration. Otherwise report the line with its stack: it is a defect. Check that the process runs again.',
  },
  'process.drain_timed_out': warn(
    'could not drain in time',
    ['drainTimeoutMs'],
    'Nothing: the reconcilers find the unfinished work. If the line repeats, look for slow calls to Postgres.',
  ),
  'process.close_failed': error('could not stop the process cleanly', ['err'], actions.defect),
  'process.resource_close_failed': error(
    'could not close a resource',
    ['err', 'resource'],
    actions.defect,
  ),
  'process.close_timed_out': warn(
    'could not close all resources in time',
    ['timeoutMs'],
    'Nothing: the process exits and its connections end with it.',
  ),
  'process.periodic_task_failed': error(
    'a periodic task failed',
    ['err', 'name'],
    'Read `err`. The task runs again after its interval. If the line repeats, run `svc doctor`, and check Postgres and Redis.',
  ),
  'process.admin_request_failed': error(
    'a request to the admin port failed',
    ['err', 'url'],
    actions.defect,
  ),
  'process.database_connection_failed': warn(
    'a connection to Postgres failed',
    ['err'],
    actions.postgres,
  ),
  'process.connections_refused': warn(
    'connections over the limit were closed',
    ['connections'],
    'Find the address with `ss`. If it is a proxy of yours, add it to `TRUST_PROXY`. If the clients are real, raise `CONNECTIONS_MAX` or `ADDRESS_CONNECTIONS_MAX`, or add a process.',
  ),
  'process.trace_export_failed': warn(
    'could not record or export traces',
    ['err'],
    'Check `OTEL_EXPORTER_OTLP_ENDPOINT` and the collector. Submissions are not affected.',
  ),
} as const satisfies Record<string, LogEvent>;
