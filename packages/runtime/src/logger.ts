import {
  destination as createDestination,
  pino,
  stdTimeFunctions,
  type DestinationStream,
  type Logger,
} from 'pino';

import { describeError, placeholder, redactedPaths, redactFields } from './redaction.ts';

export type { Logger } from 'pino';

/**
 * A JSON logger on standard output (or `destination`), one object to a line, without secrets and
 * personal data. Errors belong under `err`, submissions under `submissionId`.
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
  // Synchronously: the last lines before a crash are the ones that are needed.
  return pino(options, destination ?? createDestination({ fd: 1, sync: true }));
}

/** A logger whose every line carries the id of the request that caused it (CONTRACT section 2). */
export function withRequestId(logger: Logger, requestId: string): Logger {
  return logger.child({ requestId });
}
