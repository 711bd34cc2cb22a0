import { destination as createDestination } from 'pino';

/** The longest time that a line below `warn` stays in the buffer. */
const logWrittenWithinMs = 100;
const bufferedBytesMax = 8 * 1024;
/** A line of this level or above is written at once. 40 is `warn` in pino. */
const urgentLevel = 40;

interface LogOutput {
  /** Tells pino to set `lastLevel` before each line. */
  readonly [metadata: symbol]: true;
  lastLevel: number;
  write(line: string): void;
  flush(done?: (error?: Error) => void): void;
  flushSync(): void;
}

let opened: LogOutput | undefined;

/**
 * The standard output of all loggers, with a buffer. A killed process may lose its last lines below
 * `warn`.
 */
export function standardOutput(): LogOutput {
  opened ??= openOutput();
  return opened;
}

function openOutput(): LogOutput {
  // Without a buffer, a system call for each line would take 2.5 % of the gateway's time.
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
      // `unref` lets the process exit before the timer fires. The `exit` handler then writes the
      // buffered lines.
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
