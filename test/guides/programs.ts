import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { freePort } from '@svc/local';
import { waitUntil } from '@svc/testkit';

const checkoutDir = path.resolve(import.meta.dirname, '../..');

/**
 * The environment of a reader of the guides. It has no `NODE_OPTIONS`, so Node preloads no file of
 * the tests.
 */
function readersEnvironment(): Record<string, string> {
  return {
    PATH: `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    HOME: process.env['HOME'] ?? '',
    NODE_NO_WARNINGS: '1',
    PYTHONPATH: path.join(checkoutDir, 'clients/python/src'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
}

export interface Run {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Resolves with the output. Throws if the program fails. */
export async function run(command: readonly string[], { cwd, env }: Run): Promise<string> {
  const program = start(command, { cwd, env });
  const [code] = await once(program.child, 'close');
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${program.output()}`);
  return program.output();
}

export interface Receiver {
  readonly url: string;
  output(): string;
  close(): Promise<void>;
}

/** Resolves when the program listens on `PORT`. */
export async function startReceiver(
  command: readonly string[],
  { cwd, env }: Run,
): Promise<Receiver> {
  const port = await freePort();
  const { child, output } = start(command, { cwd, env: { ...env, PORT: `${port}` } });
  const closed = once(child, 'close');
  await waitUntil(async () => {
    if (child.exitCode !== null)
      throw new Error(`${command.join(' ')} ended before it listened on its port:\n${output()}`);
    return listens(port);
  });
  return {
    url: `http://127.0.0.1:${port}/`,
    output,
    async close() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

function start([program = '', ...words]: readonly string[], { cwd, env }: Run) {
  const child: ChildProcess = spawn(program, words, {
    cwd,
    env: { ...readersEnvironment(), ...env },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => (text += data.toString()));
  }
  return { child, output: () => text };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
