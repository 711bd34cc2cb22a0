import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpath, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Another process of this node is at work in the same directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

async function listen(socketFile: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(socketFile);
    await once(server, 'listening');
    server.unref();
    return server;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

async function isAnswered(socketFile: string): Promise<boolean> {
  const socket = connect(socketFile);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Makes this process the only one at work in a directory, for as long as it lives: a listening
 * socket ends with its process, however that ends, which a file with a process id in it does not.
 * Resolves with how to let go. Throws `DirectoryInUse`.
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const hash = createHash('sha256')
    .update(await realpath(directory))
    .digest('hex');
  // Not in the directory itself, whose path may be too long for a socket's.
  const socketFile = path.join(tmpdir(), `svc-node-${hash.slice(0, 16)}.sock`);
  let server = await listen(socketFile);
  if (server === undefined && !(await isAnswered(socketFile))) {
    await rm(socketFile, { force: true });
    server = await listen(socketFile);
  }
  if (server === undefined) throw new DirectoryInUse(`another process is at work in ${directory}`);
  const held = server;
  return async () => {
    held.close();
    await once(held, 'close');
  };
}
