import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { readStackFile } from './stack-file.ts';
import { StartError } from './start-error.ts';

/**
 * Takes the one place of the launcher of this directory: a socket, which the kernel gives up
 * however the launcher ends. Returns how to give it up.
 * Throws StartError where another launcher has it.
 */
export async function takeLauncherLock(dir: string): Promise<() => Promise<void>> {
  mkdirSync(dir, { recursive: true });
  // Relative, because the path of a socket may have some hundred characters only.
  const file = path.relative(process.cwd(), path.join(dir, 'launcher.sock'));
  if (await answers(file)) throw alreadyRunning(dir);
  rmSync(file, { force: true });
  const server = createServer((socket) => socket.destroy());
  server.listen(file);
  await once(server, 'listening');
  server.unref();
  return async () => {
    const closed = once(server, 'close');
    server.close();
    await closed;
  };
}

async function answers(file: string): Promise<boolean> {
  const socket = connect(file);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function alreadyRunning(dir: string): StartError {
  const running = readStackFile(dir);
  const where = running === undefined ? '' : ` at ${running.gatewayUrl} (process ${running.pid})`;
  return new StartError(
    `The stack runs already${where}.`,
    'Use that one, or end it with Ctrl-C in its terminal and start again.',
  );
}
