import { pino, stdTimeFunctions, type DestinationStream, type LogFn, type Logger } from 'pino';
import { eventOf } from './log-events/catalogue.ts';
import { standardOutput } from './log-output.ts';
import { describeError, placeholder, redactedPaths, redactFields } from './redaction.ts';

export type { Logger } from 'pino';

/**
 * Creates a JSON logger on standard output (or `destination`). Each line is one object without
 * secrets and personal data. Lines are written together within 100 ms. A warning or worse, and
 * `logger.flush()`, write all buffered lines at once. Log errors under `err` and submissions under
 * `submissionId`. The message names the event in the catalogue (docs/LOGS.md). A line with a message of
 * its own has a member `event` instead.
 */
export function createLogger({
  service,
  level,
  destination,
}: {
  readonly service: string;
  readonly level: string;
  readonly destination?: DestinationStream;
}): Logger {
  const options = {
    level,
    base: { service, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: redactedPaths, censor: placeholder },
    formatters: {
      level: (label: string) => ({ level: label }),
      log: redactFields,
    },
    serializers: { err: (error: unknown) => describeError(error) },
    hooks: { logMethod: addEvent },
  };
  return pino(options, destination ?? standardOutput());
}

/** Adds the event of the message to a line. */
function addEvent(this: Logger, args: Parameters<LogFn>, method: LogFn): void {
  const values: readonly unknown[] = args;
  const [first, second] = values;
  const [fields, message] = typeof first === 'string' ? [{}, first] : [first, second];
  const event = eventOf(message);
  const isObject = typeof fields === 'object' && fields !== null;
  if (event === undefined || !isObject) return method.apply(this, args);
  method.call(this, { event, ...fields }, String(message));
}

/** A logger that adds the id of the causing request to every line (CONTRACT 2). */
export function withRequestId(logger: Logger, requestId: string): Logger {
  return logger.child({ requestId });
}
