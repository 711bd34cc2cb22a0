import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { describeExit, dieWithParent, isAlive, stopChild } from './child.ts';
import { checkoutDir, compileCache } from './paths.ts';
import { StartError } from './start-error.ts';

/** The ports in the log line of a process that is ready (`msg: "ready"`). */
export interface ReadyLine {
  readonly port?: number;
  readonly adminPort?: number;
}

export interface ServiceProcess {
  readonly name: string;
  readonly pid: number;
  readonly ready: ReadyLine;
  logs(): readonly string[];
  isRunning(): boolean;
  /** Sends a message over the process's IPC channel. Does nothing after the process has ended. */
  send(message: object): void;
  /** Resolves when the process has ended, with a text that says how the process ended. */
  readonly exited: Promise<string>;
  /** Sends SIGTERM to drain the process. Kills it if it still runs after `boundMs`. */
  stop(boundMs?: number): Promise<void>;
  kill(): Promise<void>;
}

export interface ServiceCommand {
  readonly name: string;
  readonly prefix?: readonly string[];
  readonly entry: string;
  readonly args?: readonly string[];
  readonly nodeOptions?: readonly string[];
  /**
   * The whole environment of the started process. It inherits no variables from this process.
   * `NODE_COMPILE_CACHE` is added if it is missing.
   */
  readonly env: NodeJS.ProcessEnv;
  readonly onLine?: (line: string) => void;
  readonly onMessage?: (message: unknown) => void;
}

const readyBoundMs = 30_000;
/**
 * A process that still runs this long after SIGTERM is killed. This is longer than the 10 s that a
 * service may take to drain.
 */
const stopBoundMs = 12_000;
/** The longest wait for the last lines of a process that has ended. */
const drainBoundMs = 1_000;
const logLinesMax = 2_000;
const logTailLines = 20;
const notStarted = 'could not be started';

/**
 * Starts a process and waits for its ready line. If the process ends before that, or is not ready
 * in time, throws StartError with the end of its log.
 */
export async function startServiceProcess(command: ServiceCommand): Promise<ServiceProcess> {
  const { child, lines, output, drained } = spawnService(command);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', () => resolve(describeExit(child)));
    child.once('error', () => child.pid === undefined && resolve(notStarted));
  });
  const stop = (boundMs = stopBoundMs) => stopChild(child, 'SIGTERM', boundMs);
  try {
    const ready = await readyLine(output, exited);
    return {
      name: command.name,
      pid: child.pid ?? 0,
      ready,
      logs: () => lines,
      isRunning: () => isAlive(child),
      send: (message) => void (child.connected && child.send(message)),
      exited,
      stop,
      kill: () => stopChild(child, 'SIGKILL', stopBoundMs),
    };
  } catch (error) {
    await stopChild(child, 'SIGKILL', stopBoundMs);
    // A process may have ended before its last lines were read.
    await Promise.race([drained, setTimeout(drainBoundMs, undefined, { ref: false })]);
    const reason = error instanceof Error ? error.message : String(error);
    const logTail = lines.slice(-logTailLines).map(readable);
    throw new StartError(
      [`${command.name} ${reason}. Its log ends with:`, ...logTail].join('\n'),
      'Fix the reported problem, then start again.',
      { cause: error },
    );
  }
}

interface SpawnedService {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly output: ReturnType<typeof createInterface>;
  /**
   * Resolves when all lines are read, after the service and its child processes have closed stdout
   * and stderr.
   */
  readonly drained: Promise<unknown>;
}

function spawnService({
  prefix = [],
  entry,
  args = [],
  nodeOptions = [],
  env,
  onLine,
  onMessage,
}: ServiceCommand): SpawnedService {
  const node = [process.execPath, ...nodeOptions, entry, ...args];
  const [file = '', ...words] = [...prefix, ...dieWithParent('KILL'), ...node];
  const child = spawn(file, words, {
    cwd: checkoutDir,
    // The IPC channel closes when this process ends, and the started process then stops. This is
    // needed on a machine without `setpriv` (macOS).
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // The process gets its own process group. Ctrl-C then reaches only the launcher, which stops
    // the nodes before the services.
    detached: true,
    env: { ...compileCache, ...env },
  });
  child.on('error', (error) => lines.push(error.message));
  child.on('message', (message) => onMessage?.(message));
  const lines: string[] = [];
  const keep = (line: string) => {
    lines.push(line);
    if (lines.length > logLinesMax) lines.shift();
    onLine?.(line);
  };
  const output = linesOf(child.stdout);
  output.on('line', keep);
  const errors = linesOf(child.stderr);
  errors.on('line', keep);
  const drained = Promise.all([once(output, 'close'), once(errors, 'close')]);
  return { child, lines, output, drained };
}

function linesOf(stream: Readable | null): ReturnType<typeof createInterface> {
  if (stream === null) throw new Error('the child process has no pipe for stdout or stderr');
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
      settle(() => reject(new Error(`was not ready within ${readyBoundMs} ms`)));
    output.on('line', onLine);
    bound.addEventListener('abort', onBound);
    void exited.then((how) => settle(() => reject(new Error(reasonOf(how)))));
  });
}

function reasonOf(how: string): string {
  return how === notStarted ? how : `${how} before it was ready`;
}

export function parseReadyLine(line: string): ReadyLine | undefined {
  const entry = parseLogLine(line);
  if (entry?.['msg'] !== 'ready') return undefined;
  const { port, adminPort } = entry;
  return {
    ...(typeof port === 'number' ? { port } : {}),
    ...(typeof adminPort === 'number' ? { adminPort } : {}),
  };
}

/**
 * Parses a line of a JSON log. Returns undefined for other lines, such as a stack trace of Node.
 */
export function parseLogLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function readable(line: string): string {
  const entry = parseLogLine(line);
  if (typeof entry?.['msg'] !== 'string') return line;
  const error = entry['err'];
  const detail = error === undefined ? '' : ` ${JSON.stringify(error)}`;
  return `${entry['msg']}${detail}`;
}
