import { type Clock, type Logger, writesLogLevel } from '@svc/runtime';

/**
 * After `perSecondMax` lines in a second, the log gets only each 100th line. The lines of slow
 * requests and of 5xx answers are always written, and are not counted.
 */
export const sampledOneIn = 100;
/** The line of a request that takes longer than this is never left out. */
export const slowRequestMs = 1_000;
const secondMs = 1_000;

interface EndedRequest {
  /** Undefined if no answer was sent. */
  readonly status: number | undefined;
  readonly durationMs: number;
}

export interface RequestLines {
  /** True if the line must be written. Otherwise the line is counted as left out. */
  admits(request: EndedRequest): boolean;
  /** Logs how many lines were left out since the last report, unless there were none. */
  close(): Promise<void>;
}

export interface RequestLinesOptions {
  readonly perSecondMax: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
}

/**
 * Limits how many log lines about single requests this process writes (decision 44). At the log
 * level `debug` all lines are written.
 */
export function createRequestLines(options: RequestLinesOptions): RequestLines {
  const { perSecondMax, clock, logger } = options;
  let secondStartMs = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let leftOut = 0;
  let timer: NodeJS.Timeout | undefined;

  function report(): void {
    clearTimeout(timer);
    timer = undefined;
    if (leftOut > 0) logger.info({ leftOut }, 'some log lines about requests were left out');
    leftOut = 0;
  }

  return {
    admits({ status = 0, durationMs }) {
      if (status >= 500 || durationMs > slowRequestMs) return true;
      const nowMs = clock.monotonicMs();
      if (nowMs - secondStartMs >= secondMs) {
        secondStartMs = nowMs;
        lines = 0;
      }
      lines += 1;
      const beyond = lines - perSecondMax;
      if (beyond <= 0 || beyond % sampledOneIn === 0) return true;
      if (writesLogLevel(logger, 'debug')) return true;
      leftOut += 1;
      timer ??= setTimeout(report, secondMs);
      return false;
    },
    close() {
      report();
      return Promise.resolve();
    },
  };
}
