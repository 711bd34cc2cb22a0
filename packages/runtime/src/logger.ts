import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

import { standardOutput } from './log-output.ts';
import { describeError, placeholder, redactedPaths, redactFields } from './redaction.ts';

export type { Logger } from 'pino';

/**
 * A JSON logger on standard output (or `destination`), one object to a line, without secrets and
 * personal data. Lines are written together, a tenth of a second later at most; a warning or
 * worse takes what came before it along at once, and so does `logger.flush()`. Errors belong under
 * `err`, submissions under `submissionId`.
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
  };
  return pino(options, destination ?? standardOutput());
}

/** A logger whose every line carries the id of the request that caused it (CONTRACT 2). */
export function withRequestId(logger: Logger, requestId: string): Logger {
  return logger.child({ requestId });
}
