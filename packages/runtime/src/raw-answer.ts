import type { Duplex } from 'node:stream';
import { type Problem, problemMediaType } from '@svc/contracts';

/**
 * The connection stays half open this long after the answer. A reset at once would make a client
 * that is still sending lose the answer.
 */
const lingerMs = 500;

/** Writes a problem document to a socket that has no response object, and ends the connection. */
export function answerRaw(socket: Duplex, problem: Problem, headers: readonly string[]): void {
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `x-request-id: ${problem.requestId}`,
    `content-type: ${problemMediaType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
    ...headers,
  ];
  socket.on('error', () => {});
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
