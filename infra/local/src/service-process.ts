import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describeExit, dieWithParent, isAlive, stopChild } from './child.ts';
import { checkoutDir, compileCache } from './paths.ts';
import { StartError } from './start-error.ts';

/** The line by which a process says that it serves (`msg: "ready"`), and its ports. */
export interface ReadyLine {
  readonly port?: number;
  readonly adminPort?: number;
}

/** One of our own processes: a service or a node agent. */
export interface ServiceProcess {
  readonly name: string;
  readonly pid: number;
  readonly ready: ReadyLine;
  /** The last lines that it wrote, oldest first. */
  logs(): readonly string[];
  isRunning(): boolean;
  /** Resolves when it has ended, in whatever way. */
  readonly exited: Promise<string>;
  /** Asks it to drain and end; kills it after `boundMs`. */
  stop(boundMs?: number): Promise<void>;
  /** kill -9: nothing is drained, nothing is said. */
  kill(): Promise<void>;
}

export interface ServiceCommand {
  readonly name: string;
  /** The file to run, absolute. */
  readonly entry: string;
  readonly args?: readonly string[];
  /** Options of Node itself, such as `--watch`. */
  readonly nodeOptions?: readonly string[];
  /** The whole environment. */
  readonly env: NodeJS.ProcessEnv;
  /** Called with each line of its standard output and error. */
  readonly onLine?: (line: string) => void;
  /** Called with each message of its IPC channel, and how to answer it. */
  readonly onMessage?: (message: unknown, answer: (message: object) => void) => void;
}

const readyBoundMs = 30_000;
/** Longer than the 10 s in which a service drains by itself. */
const stopBoundMs = 12_000;
const logLinesMax = 2_000;
const logTailLines = 20;

/**
 * Starts one of our processes and waits for its ready line. It dies with this process: the
 * kernel kills it (a service is built to be killed at any point), and where the kernel does not,
 * the end of the IPC channel tells it.
 * Throws StartError with the end of its log where it ends first or says nothing in time.
 */
export async function startServiceProcess(command: ServiceCommand): Promise<ServiceProcess> {
  const { child, lines, output } = spawnService(command);
  const exited = once(child, 'exit').then(() => describeExit(child));
  const stop = (boundMs = stopBoundMs) => stopChild(child, 'SIGTERM', boundMs);
  try {
    const ready = await readyLine(output, exited);
    return {
      name: command.name,
      pid: child.pid ?? 0,
      ready,
      logs: () => lines,
      isRunning: () => isAlive(child),
      exited,
      stop,
      kill: () => stopChild(child, 'SIGKILL', stopBoundMs),
    };
  } catch (error) {
    await stopChild(child, 'SIGKILL', stopBoundMs);
    const why = error instanceof Error ? error.message : String(error);
    const said = lines.slice(-logTailLines).map(readable);
    throw new StartError(
      [`${command.name} ${why}; it wrote:`, ...said].join('\n'),
      'Mend what it says, then start again.',
      { cause: error },
    );
  }
}

interface SpawnedService {
  readonly child: ChildProcess;
  /** Filled as it writes, bounded. */
  readonly lines: string[];
  readonly output: ReturnType<typeof createInterface>;
}

function spawnService({
  entry,
  args = [],
  nodeOptions = [],
  env,
  onLine,
  onMessage,
}: ServiceCommand): SpawnedService {
  const node = [process.execPath, ...nodeOptions, entry, ...args];
  const [file = '', ...words] = [...dieWithParent('KILL'), ...node];
  const child = spawn(file, words, {
    cwd: checkoutDir,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A process group of its own: Ctrl-C reaches the launcher only, which ends things in order.
    detached: true,
    env: { ...compileCache, ...env },
  });
  // Without a listener a failed spawn would end this process; the exit is what is waited for.
  child.on('error', (error) => lines.push(error.message));
  const answer = (message: object) => void (child.connected && child.send(message));
  child.on('message', (message) => onMessage?.(message, answer));
  const lines: string[] = [];
  const keep = (line: string) => {
    lines.push(line);
    if (lines.length > logLinesMax) lines.shift();
    onLine?.(line);
  };
  const output = linesOf(child.stdout);
  output.on('line', keep);
  linesOf(child.stderr).on('line', keep);
  return { child, lines, output };
}

function linesOf(stream: Readable | null): ReturnType<typeof createInterface> {
  if (stream === null) throw new Error('a piped stream is missing');
  return createInterface({ input: stream, crlfDelay: Infinity });
}

async function readyLine(
  output: ReturnType<typeof createInterface>,
  exited: Promise<string>,
): Promise<ReadyLine> {
  const bound = AbortSignal.timeout(readyBoundMs);
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      output.off('line', onLine);
      bound.removeEventListener('abort', onBound);
      finish();
    };
    const onLine = (line: string) => {
      const ready = parseReadyLine(line);
      if (ready !== undefined) settle(() => resolve(ready));
    };
    const onBound = () =>
      settle(() => reject(new Error(`did not get ready in ${readyBoundMs} ms`)));
    output.on('line', onLine);
    bound.addEventListener('abort', onBound);
    void exited.then((how) => settle(() => reject(new Error(`${how} before it was ready`))));
  });
}

/** The ports in a log line that says ready, or undefined where the line says anything else. */
export function parseReadyLine(line: string): ReadyLine | undefined {
  const entry = parseLogLine(line);
  if (entry?.['msg'] !== 'ready') return undefined;
  const { port, adminPort } = entry;
  return {
    ...(typeof port === 'number' ? { port } : {}),
    ...(typeof adminPort === 'number' ? { adminPort } : {}),
  };
}

/** A line of a JSON log, or undefined where it is something else (a stack trace of Node's own). */
export function parseLogLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** A JSON log line as a person wants to read it where something went wrong. */
function readable(line: string): string {
  const entry = parseLogLine(line);
  if (typeof entry?.['msg'] !== 'string') return line;
  const error = entry['err'];
  const detail = error === undefined ? '' : ` ${JSON.stringify(error)}`;
  return `${entry['msg']}${detail}`;
}
