import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface DriverAnswer {
  readonly ok?: unknown;
  readonly requestId?: string;
  readonly pausesMs?: readonly number[];
  readonly error?: Readonly<Record<string, unknown>>;
}

/** A driver process reads lines with one JSON object each, and answers each line with one line. */
export interface Driver {
  readonly name: string;
  ask(message: Readonly<Record<string, unknown>>): Promise<DriverAnswer>;
  close(): Promise<void>;
}

export function startDriver(
  name: string,
  command: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Driver {
  const [program = '', ...words] = command;
  const child = spawn(program, words, {
    cwd: options.cwd,
    // The driver gets no `NODE_OPTIONS`. Those of the tests preload TypeScript files, and older
    // runtimes cannot load TypeScript.
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...options.env },
  });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (message: Readonly<Record<string, unknown>>): Promise<DriverAnswer> => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`${name} ended:\n${errors}`);
    return JSON.parse(value);
  };
  return {
    name,
    ask(message) {
      const answer = last.then(() => ask(message));
      last = answer.catch(() => {});
      return answer;
    },
    close: () => close(child),
  };
}

async function close(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.stdin.end();
  await ended;
}
