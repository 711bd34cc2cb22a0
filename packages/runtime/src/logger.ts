import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { standardOutput } from './log-output.ts';
import { describeError, placeholder, redactedPaths, redactFields } from './redaction.ts';

export type { Logger } from 'pino';

/**
 * Creates a JSON logger on standard output (or `destination`). Each line is one object without
 * secrets and personal data. Lines are written together within 100 ms. A warning or worse, and
 * `logger.flush()`, write all buffered lines at once. Log errors under `err` and submissions under
 * `submissionId`.
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

/** A logger that adds the id of the causing request to every line (CONTRACT 2). */
export function withRequestId(logger: Logger, requestId: string): Logger {
  return logger.child({ requestId });
}
