import { once } from 'node:events';
import { connect } from 'node:net';

interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * A kept-alive connection to a gateway, for one request at a time. It implements HTTP itself,
 * because a client library would use as much CPU as the gateway.
 */
export interface Connection {
  readonly host: string;
  isOpen(): boolean;
  /**
   * Throws if the connection is closed already, or fails before the answer is complete. Also throws
   * if the answer has no `Content-Length`.
   */
  ask(request: string): Promise<Answer>;
  close(): void;
}

export async function connectTo(gatewayUrl: string): Promise<Connection> {
  const { hostname, port, host } = new URL(gatewayUrl);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  let received = '';
  let waiting: PromiseWithResolvers<Answer> | undefined;
  const fail = (error: Error): void => {
    waiting?.reject(error);
    socket.destroy();
  };
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = received.slice(0, headEnd + 2);
    const length = /\r\ncontent-length: *([0-9]+)/i.exec(head)?.[1];
    if (length === undefined)
      return fail(new Error(`the gateway sent an answer without Content-Length: ${head}`));
    if (received.length < headEnd + 4 + Number(length)) return;
    const answer = { status: Number(received.slice(9, 12)), body: received.slice(headEnd + 4) };
    received = '';
    waiting?.resolve(answer);
  });
  socket.on('error', fail);
  socket.on('end', () => fail(new Error('the gateway closed a connection')));
  return {
    host,
    isOpen: () => !socket.destroyed,
    ask(request) {
      waiting = Promise.withResolvers();
      if (socket.destroyed)
        waiting.reject(new Error('the connection was closed before the request'));
      socket.write(request);
      return waiting.promise;
    },
    close: () => socket.destroy(),
  };
}
