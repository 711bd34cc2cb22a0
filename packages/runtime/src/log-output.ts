import { destination as createDestination } from 'pino';

/** How long a line that is no warning may wait for others to be written with it. */
const logWrittenWithinMs = 100;
/** Lines are written when there is this much of them: half of what a pipe takes in one piece. */
const bufferedBytesMax = 8 * 1024;
/** Of pino: `warn`. */
const urgentLevel = 40;

interface LogOutput {
  /** By this pino knows that it is to set `lastLevel` before each line. */
  readonly [metadata: symbol]: true;
  lastLevel: number;
  write(line: string): void;
  flush(done?: (error?: Error) => void): void;
  flushSync(): void;
}

let opened: LogOutput | undefined;

/**
 * The standard output of this process, for all its loggers. A line was a system call, and those cost
 * more than the line (a fortieth of the gateway's time); so lines are gathered, and written without
 * anything going on meanwhile: when there are enough of them, within `logWrittenWithinMs`, with the
 * next warning or worse, and when the process exits, by an error that nobody caught too. Only a
 * process that is killed outright loses lines, those of its last moment.
 */
export function standardOutput(): LogOutput {
  opened ??= openOutput();
  return opened;
}

function openOutput(): LogOutput {
  const output = createDestination({ fd: 1, sync: true, minLength: bufferedBytesMax });
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    output.flush();
  };
  process.on('exit', flush);
  const opening: LogOutput = {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line) {
      output.write(line);
      if (opening.lastLevel >= urgentLevel) flush();
      // Not waited for: what it has not written yet is written on exit.
      else timer ??= setTimeout(flush, logWrittenWithinMs).unref();
    },
    flush(done) {
      flush();
      done?.();
    },
    flushSync: flush,
  };
  return opening;
}
