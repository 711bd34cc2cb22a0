import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request whose body has arrived whole. */
export interface FixtureRequest {
  readonly method: string;
  /** The name in `Host`, without the port. */
  readonly host: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** The number in the browser's `visit` cookie. Undefined for a browser that has no cookie yet. */
  readonly visit: string | undefined;
}

/** `cut` destroys the connection without an answer. */
export type FixtureAnswer =
  | 'cut'
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Buffer;
    };

export interface Bytes {
  readonly received: number;
  readonly sent: number;
}

export interface FixtureServer {
  readonly port: number;
  /** The bytes of all connections so far, as the sockets count them. */
  bytes(): Bytes;
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return undefined;
  }
  return request.complete ? Buffer.concat(chunks) : undefined;
}

function readRequest(request: IncomingMessage, body: Buffer): FixtureRequest {
  const url = new URL(request.url ?? '/', `http://${request.headers.host ?? 'unknown'}`);
  return {
    method: request.method ?? 'GET',
    host: url.hostname,
    path: decodeURIComponent(url.pathname),
    query: url.searchParams,
    headers: request.headers,
    body,
    visit: /\bvisit=([0-9]+)/u.exec(request.headers.cookie ?? '')?.[1],
  };
}

function bytesOf(socket: Socket): Bytes {
  return { received: socket['bytesRead'], sent: socket['bytesWritten'] };
}

function countBytes(sockets: Map<Socket, Bytes>, socket: Socket): void {
  sockets.set(socket, { received: 0, sent: 0 });
  socket.on('error', () => {});
  socket.once('close', () => {
    sockets.set(socket, bytesOf(socket));
  });
}

export async function listen(
  respond: (request: FixtureRequest) => FixtureAnswer,
): Promise<FixtureServer> {
  const sockets = new Map<Socket, Bytes>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    if (body === undefined) return;
    const answered = respond(readRequest(request, body));
    if (answered === 'cut') {
      request.socket.destroy();
      return;
    }
    response.writeHead(answered.status, { 'cache-control': 'no-store', ...answered.headers });
    response.end(answered.body);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.on('connection', (socket) => countBytes(sockets, socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    bytes() {
      let received = 0;
      let sent = 0;
      for (const [socket, closed] of sockets) {
        const counted = socket.destroyed ? closed : bytesOf(socket);
        received += counted.received;
        sent += counted.sent;
      }
      return { received, sent };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
