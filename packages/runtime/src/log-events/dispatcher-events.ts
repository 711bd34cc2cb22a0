import { actions, error, info, type LogEvent, saying, warn } from './definition.ts';

export const dispatcherEvents = {
  'dispatcher.submission_dispatched': info('dispatched', ['nodeId', 'requestId', 'submissionId']),
  'dispatcher.submission_running': info('running', ['nodeId', 'requestId', 'submissionId']),
  'dispatcher.outcome_stored': info('outcome stored', [
    'nodeId',
    'requestId',
    'submissionId',
    'outcome',
  ]),
  'dispatcher.submission_lost': warn(
    'stored node_lost for a submission, because its node does not have it or is disabled',
    ['submissionId'],
    'Do nothing at first. The submission fails, and its hold is released. The cause may be that the link ended, the node was disabled, or the node lost its state directory. `svc trace` shows the node. If it is often the same node, ask its owner to check network and disk.',
  ),
  'dispatcher.dispatch_failed': error(
    'could not dispatch a submission',
    ['err', 'requestId'],
    'Read `err`. If no node got the submission, its hold is released and the tenant gets `503`. If the line repeats, run `svc doctor`.',
  ),
  'dispatcher.reply_failed': warn(
    'could not reply to a gateway',
    ['err'],
    'Check Redis. Without a reply, the gateway reads the state from Postgres within a second.',
  ),
  'dispatcher.offer_not_sent': warn('could not send an offer', ['err'], actions.redis),
  'dispatcher.reservation_failed': warn('could not reserve a slot', ['err'], actions.redis),
  'dispatcher.background_task_failed': saying(
    'warn',
    '`could not`, then the task that failed',
    ['err', 'task'],
    actions.either,
  ),
  'dispatcher.fleet_refresh_failed': warn(
    'could not refresh this dispatcher in the fleet registry',
    ['err'],
    actions.redis,
  ),
  'dispatcher.surge_pin_read_failed': warn(
    'could not read the surge pin',
    ['err'],
    actions.postgres,
  ),
  'dispatcher.surge_not_published': warn(
    'could not publish the surge multiplier',
    ['err'],
    actions.redis,
  ),
  'dispatcher.node_linked': info('node linked', ['nodeId', 'slots', 'running']),
  'dispatcher.link_refused': info('node link refused', ['requestId', 'code', 'detail']),
  'dispatcher.link_failed': info('node link failed', ['nodeId', 'err']),
  'dispatcher.node_silent': info('dropped a silent node link', ['nodeId']),
  'dispatcher.node_not_reading': warn(
    'dropped the link of a node that does not read the frames sent to it',
    ['nodeId', 'unreadBytes'],
    'Ask the owner of the node to check its connection and its load. The node connects again by itself.',
  ),
  'dispatcher.node_quarantined': warn(
    'the node is in quarantine',
    ['nodeId', 'quarantinedUntil'],
    'Run `svc node show` for the reason. Then ask the owner of the node to check the node.',
  ),
  'dispatcher.frame_malformed': warn(
    'bad frame',
    ['nodeId', 'code'],
    'If `code` is `unhandled_frame`, see the line `could not handle a frame`. Otherwise ask the owner of the node to update the agent. The third bad frame closes the link.',
  ),
  'dispatcher.frame_failed': error(
    'could not handle a frame',
    ['nodeId', 'err'],
    'Report the line with its stack: it is a defect. The frame counts as a bad frame. The third bad frame closes the link.',
  ),
  'dispatcher.dependency_unavailable': warn(
    'a frame was not handled, because a dependency or a master key is unavailable',
    ['nodeId', 'err', 'frame'],
    'Run `svc doctor`, and check Postgres and Redis. The node sends only `start`, `report` and outcomes again.',
  ),
  'dispatcher.hello_failed': error(
    'could not handle the hello of a node',
    ['nodeId', 'err'],
    'Read `err`, and check Postgres. The node connects again by itself.',
  ),
  'dispatcher.fleet_entry_failed': warn(
    'could not add a node link to the fleet registry, or could not notify the other dispatchers of it',
    ['nodeId', 'err'],
    actions.redis,
  ),
  'dispatcher.link_decision_failed': error(
    'could not decide whether to accept a node link',
    ['err'],
    'Read `err`, and check Postgres. The node connects again by itself.',
  ),
  'dispatcher.link_request_failed': error(
    'could not handle an HTTP request to the node link port',
    ['err'],
    actions.defect,
  ),
  'dispatcher.submission_reported': info(
    'the node has reported a submission after the database was restored from a backup',
    ['nodeId', 'submissionId', 'finding'],
  ),
  'dispatcher.history_reported': info('the node has reported its whole history', [
    'nodeId',
    'unreadable',
  ]),
} as const satisfies Record<string, LogEvent>;
