import type { Duplex } from 'node:stream';

/**
 * The connection is destroyed this many milliseconds after the answer. If it were reset at once, a
 * client that is still sending would lose the answer.
 */
const lingerMs = 500;

interface RawProblem {
  readonly status: number;
  readonly title: string;
  readonly requestId: string;
}

/**
 * Writes a problem document directly to a socket, without a response object, and ends the
 * connection. `headers` are complete header lines, and one of them must be the content type.
 */
export function answerRaw(socket: Duplex, problem: RawProblem, headers: readonly string[]): void {
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `x-request-id: ${problem.requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
    ...headers,
  ];
  socket.on('error', () => {});
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
