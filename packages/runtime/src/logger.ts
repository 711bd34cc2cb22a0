import { pino, stdTimeFunctions, type DestinationStream, type LogFn, type Logger } from 'pino';
import { eventOf } from './log-events/catalogue.ts';
import { standardOutput } from './log-output.ts';
import { describeError, placeholder, redactedPaths, redactFields } from './redaction.ts';

export type { Logger } from 'pino';

/** The lowest level that a logger and its children write, as pino's number. */
interface Threshold {
  readonly configured: number;
  current: number;
}

const thresholds = new WeakMap<Logger, Threshold>();

/**
 * Creates a JSON logger. Give it an error as `err`, and a submission id as `submissionId`. If a
 * message is not constant, give the name of the log event as `event` (decision 44).
 */
export function createLogger({
  service,
  level,
  destination,
}: {
  readonly service: string;
  readonly level: string;
  /** Default: the standard output, which buffers lines below `warn` for at most 100 ms. */
  readonly destination?: DestinationStream;
}): Logger {
  const configured = levelNumber(level);
  const threshold: Threshold = { configured, current: configured };
  const options = {
    // Pino's level stays at `trace`, because a change of it would not reach child loggers (decision
    // 44). The hook below drops the lines under the threshold instead.
    level: 'trace',
    base: { service, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: redactedPaths, censor: placeholder },
    formatters: {
      level: (label: string) => ({ level: label }),
      log: redactFields,
    },
    serializers: { err: (error: unknown) => describeError(error) },
    hooks: {
      logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, number: number) {
        if (number >= threshold.current) writeWithEvent(this, args, method);
      },
    },
  };
  const logger = pino(options, destination ?? standardOutput());
  thresholds.set(logger, threshold);
  return logger;
}

/**
 * Pino's number of a level. It is infinite for `silent` and for an unknown level, so no line
 * reaches it.
 */
function levelNumber(level: string): number {
  return pino.levels.values[level] ?? Number.POSITIVE_INFINITY;
}

function writeWithEvent(logger: Logger, args: Parameters<LogFn>, method: LogFn): void {
  const values: readonly unknown[] = args;
  const [first, second] = values;
  const [fields, message] = typeof first === 'string' ? [{}, first] : [first, second];
  // The logger finds an event by its constant message. For other messages the caller passes
  // `event`.
  const event = eventOf(message);
  const isObject = typeof fields === 'object' && fields !== null;
  if (event === undefined || !isObject) return method.apply(logger, args);
  method.call(logger, { event, ...fields }, String(message));
}

/**
 * Changes the level of a logger and its children. Null restores the original level. Throws if
 * `logger` was not returned by `createLogger`, for example if it is a child logger.
 */
export function changeLogLevel(logger: Logger, level: string | null): void {
  const threshold = thresholds.get(logger);
  if (threshold === undefined) throw new Error('the level of this logger cannot be changed');
  const next = level === null ? threshold.configured : levelNumber(level);
  // The line `log level changed` is written if the old or the new level allows `info`.
  threshold.current = Math.min(threshold.current, next);
  logger.info({ logLevel: level ?? 'configured' }, 'log level changed');
  threshold.current = next;
}

/**
 * True if `createLogger` returned `logger`, and `logger` writes lines of this level. False for any
 * other logger, for example a child.
 */
export function writesLogLevel(logger: Logger, level: string): boolean {
  const threshold = thresholds.get(logger);
  return threshold !== undefined && levelNumber(level) >= threshold.current;
}

/**
 * Returns a logger for work that a request has caused. Each of its lines contains the id of that
 * request (CONTRACT 2).
 */
export function withRequestId(logger: Logger, requestId: string): Logger {
  return logger.child({ requestId });
}
