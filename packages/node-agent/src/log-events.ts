interface NodeLogEvent {
  readonly level: 'info' | 'warn' | 'error';
  /** Null if the message varies. The caller of `Log` then passes the event's name as `event`. */
  readonly message: string | null;
  readonly members: readonly NodeLogMember[];
  /** The step that the node owner takes after a warning or an error. */
  readonly action?: string;
  /** Describes the messages if `message` is null. */
  readonly says?: string;
}

/** The members of the log events of a node, except those that every line has. */
export const nodeLogMembers = {
  adapter: 'the adapter for the form, such as `greenhouse` or `generic`',
  binary: 'the path of the browser',
  closeCode: 'the close code of the link; 1006 if the link broke or never opened',
  code: 'the error code of a refused or ignored frame (CONTRACT 7); in `node.link_closed` the close code',
  delayMs: 'milliseconds until the node connects again',
  durationMs: 'how long the node took to fill in the step of the form, in milliseconds',
  fields: 'how many fields were filled',
  isSandboxed: 'true if the browser runs in its sandbox',
  key: 'the name of the field, never its value',
  leftovers: 'how many profile directories of earlier browsers were deleted',
  outcome:
    '`completed` or `failed` (submission); `answered`, `unanswered` or `nothing_sent` (form)',
  reason: 'the message of the error, or the reason that the service gave',
  refusedStatus:
    'the HTTP status with which the service refused the link; missing if the link was not refused',
  running:
    'how many submissions the node has: not begun, running, or with an unacknowledged outcome',
  status: 'the HTTP status of the service (`node.link_refused`) or the site (`node.form_refused`)',
  step: 'the number of the step of the form',
  submissionId: 'the submission, `sub_…`',
  version: 'the version of the browser',
  why: 'the signal, or `parent gone` if the parent process has ended',
} as const;

type NodeLogMember = keyof typeof nodeLogMembers;

const connectsAgain =
  'Wait: the node connects again by itself. If the line repeats, run `svc-node doctor`.';
const fullDisk = 'Check the permissions of the state directory and the free space on its disk.';

/** Every event that a node logs, by name. `pnpm logs:docs` writes these events to docs/LOGS.md. */
export const nodeLogCatalogue = {
  'node.ready': { level: 'info', message: 'ready', members: ['running'] },
  'node.linked_again': { level: 'info', message: 'linked again', members: ['running'] },
  'node.unlinked': {
    level: 'info',
    message: 'the node has no link and connects again',
    members: ['closeCode', 'refusedStatus', 'delayMs'],
  },
  'node.draining': {
    level: 'info',
    message: 'draining: the node finishes its submissions',
    members: ['running'],
  },
  'node.stopping': { level: 'info', message: 'stopping', members: ['why'] },
  'node.stopped_unfinished': {
    level: 'warn',
    message:
      'stopped before the drain was finished; the node reports unfinished submissions after a restart',
    members: [],
    action: 'Start the node again soon, with the same state directory.',
  },
  'node.cannot_start': {
    level: 'error',
    message: null,
    says: 'why the node cannot start',
    members: [],
    action: 'Do what the message says, then start the node again.',
  },
  'node.frame_refused': {
    level: 'warn',
    message: 'the service refused a frame',
    members: ['code'],
    action: 'Update the agent. If it is up to date, send this line to the operator.',
  },
  'node.frame_ignored': {
    level: 'warn',
    message: 'ignored a bad frame from the service',
    members: ['code'],
    action: 'Update the agent. If it is up to date, send this line to the operator.',
  },
  'node.link_refused': {
    level: 'error',
    message: null,
    says: 'why the service refused the connection',
    members: ['status'],
    action: 'Do what the message says. `svc-node doctor` checks id, secret, clock and address.',
  },
  'node.link_broke': {
    level: 'warn',
    message: 'the link broke or never opened',
    members: ['reason'],
    action: connectsAgain,
  },
  'node.link_closed': {
    level: 'warn',
    message: 'the service closed the link',
    members: ['code', 'reason'],
    action: connectsAgain,
  },
  'node.submission_assigned': { level: 'info', message: 'assigned', members: ['submissionId'] },
  'node.submission_begun': { level: 'info', message: 'begun', members: ['submissionId'] },
  'node.submission_submitting': { level: 'info', message: 'submitting', members: ['submissionId'] },
  'node.submission_ended': {
    level: 'info',
    message: 'ended',
    members: ['submissionId', 'outcome'],
  },
  'node.submission_stopped': { level: 'info', message: 'stopped', members: ['submissionId'] },
  'node.submission_taken': {
    level: 'error',
    message: 'another process has begun the submission',
    members: ['submissionId'],
    action: 'Stop the other process: each agent needs its own id and its own state directory.',
  },
  'node.journal_failed': {
    level: 'error',
    message: 'could not write to the state directory',
    members: ['reason'],
    action: fullDisk,
  },
  'node.begin_not_recorded': {
    level: 'error',
    message: 'could not record that the submission begins, so the node does not run it',
    members: ['submissionId', 'reason'],
    action: fullDisk,
  },
  'node.browser_started': {
    level: 'info',
    message: 'checked that the browser starts',
    members: ['binary', 'version', 'isSandboxed'],
  },
  'node.browser_leftovers_deleted': {
    level: 'info',
    message: 'deleted the profile directories that earlier browsers left behind',
    members: ['leftovers'],
  },
  'node.browser_not_started': {
    level: 'info',
    message: 'the browser did not start',
    members: ['submissionId', 'reason'],
  },
  'node.form_found': {
    level: 'info',
    message: 'form found',
    members: ['submissionId', 'adapter'],
  },
  'node.field_filled': { level: 'info', message: 'field filled', members: ['submissionId', 'key'] },
  'node.step_filled': {
    level: 'info',
    message: 'step filled',
    members: ['submissionId', 'step', 'fields', 'durationMs'],
  },
  'node.form_submitted': {
    level: 'info',
    message: 'submitted',
    members: ['submissionId', 'outcome'],
  },
  'node.form_refused': { level: 'info', message: 'refused', members: ['submissionId', 'status'] },
} as const satisfies Record<string, NodeLogEvent>;

const eventByMessage = new Map<string | null, string>(
  Object.entries(nodeLogCatalogue).map(([event, { message }]) => [message, event]),
);

export function eventOf(message: string): string | undefined {
  return eventByMessage.get(message);
}
