import type { LogMember } from './members.ts';

/**
 * An event that services log. Programs search for the name of an event, so the name is stable. The
 * message may change.
 */
export interface LogEvent {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  /**
   * The message of each line with this event. The logger finds the event by its message. Null if
   * the message differs from line to line, so that the caller must pass the member `event`.
   */
  readonly message: string | null;
  /**
   * The members that a line with this event may have. Members that every line has are not listed.
   */
  readonly members: readonly LogMember[];
  /** The step that an operator takes after a warning or worse. */
  readonly action?: string;
  /** Describes the message if `message` is null. Only the documentation shows this description. */
  readonly says?: string;
}

type Members = readonly LogMember[];

export function debug(message: string, members: Members = []): LogEvent {
  return { level: 'debug', message, members };
}

export function info(message: string, members: Members = []): LogEvent {
  return { level: 'info', message, members };
}

export function warn(message: string, members: Members, action: string): LogEvent {
  return { level: 'warn', message, members, action };
}

export function error(message: string, members: Members, action: string): LogEvent {
  return { level: 'error', message, members, action };
}

export function saying(
  level: LogEvent['level'],
  says: string,
  members: Members,
  action: string,
): LogEvent {
  return { level, message: null, says, members, action };
}

const repairs = 'Nothing at first';

export const actions = {
  redis: `${repairs}: no work is lost, because Postgres has it. If the line repeats, run \`svc doctor\` and check Redis.`,
  postgres: `${repairs}: the next call to Postgres may succeed. If the line repeats, run \`svc doctor\` and check Postgres.`,
  either: `${repairs}. If the line repeats, run \`svc doctor\` and check Postgres and Redis.`,
  defect:
    'Report the line with its stack to the developers: the cause is a defect or an unknown error.',
  retried: `${repairs}: the operation is retried with backoff. If the line repeats for the same id, read \`err\` and run \`svc trace sub_…\` or \`svc webhook show dlv_…\`.`,
} as const;
