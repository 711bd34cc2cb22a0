import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { readStackFile } from './stack-file.ts';
import { StartError } from './start-error.ts';

/**
 * Makes this process the only launcher of the directory. Returns the function that releases the
 * lock. Throws StartError if another launcher has the lock.
 */
export async function takeLauncherLock(dir: string): Promise<() => Promise<void>> {
  mkdirSync(dir, { recursive: true });
  // The path of a socket is limited to about 100 bytes. A relative path is usually shorter.
  const file = path.relative(process.cwd(), path.join(dir, 'launcher.sock'));
  if (await answers(file)) throw alreadyRunning(dir);
  rmSync(file, { force: true });
  // The lock is a socket, because the kernel closes a socket when its process ends in any way.
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
    `The stack is already running${where}.`,
    'Use that stack, or stop it with Ctrl-C in its terminal and start again.',
  );
}
