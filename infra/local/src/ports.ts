import { once } from 'node:events';
import { createServer } from 'node:net';

const host = '127.0.0.1';

/**
 * Listens on the port (0: any free one) for a moment and returns its number. Undefined if the port
 * is in use, or if this user may not listen on it.
 */
async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    if (error instanceof Error && 'code' in error && isTaken(error.code)) return undefined;
    throw error;
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : undefined;
}

function isTaken(code: unknown): boolean {
  return code === 'EADDRINUSE' || code === 'EACCES';
}

/** Returns a free port of 127.0.0.1. Another program may take it before the caller uses it. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === undefined) throw new Error('the system has no free port');
  return port;
}

export async function isPortFree(port: number): Promise<boolean> {
  return (await tryPort(port)) !== undefined;
}
