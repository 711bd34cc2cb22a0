import { createHash, createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import { selfSigned } from '../../../packages/testkit/src/self-signed.ts';

/** The protocols between the browser and the employer. No browser speaks HTTP/2 without TLS. */
export const protocols = ['http1', 'http1-tls', 'http2-tls'] as const;
export type Protocol = (typeof protocols)[number];

/**
 * How the relay cuts connections. It passes on the first `bytes` bytes of one direction, and ends
 * the connection when the next byte arrives.
 */
export type Cut =
  | { readonly kind: 'none' }
  /**
   * Cuts the answer. A byte counts only if it passes after a request other than GET and OPTIONS has
   * arrived on the connection.
   */
  | { readonly kind: 'answer'; readonly bytes: number }
  /**
   * Cuts the request. `bytes` counts from the start of the connection. Applies to connections that
   * start after `setCut`.
   */
  | { readonly kind: 'request'; readonly bytes: number };

/** An employer behind a relay. The relay cuts connections as `setCut` says. */
export interface CuttingServer {
  readonly port: number;
  /** The requests that arrived, except GET and OPTIONS, each as `METHOD path`. */
  readonly received: string[];
  /** Resolves when the next request is added to `received`, or after `timeoutMs` without one. */
  arrivedWithin(timeoutMs: number): Promise<void>;
  setCut(cut: Cut): void;
  /** The number of chunks that exceeded the limit of a `Cut`. 0 if the relay has cut nothing. */
  cuts(): number;
  close(): Promise<void>;
}

export const confirmation = 'Thank you for your application, number 4711.';
export const applyPath = '/apply';
/**
 * The server answers this path with a 307, which asks the browser to send the application again to
 * `applyPath`.
 */
export const movedPath = '/moved';

const page = `<!doctype html><title>Apply</title>
<form id="form" method="post" action="${applyPath}"><input name="name" value="Ada"></form>`;

const credentials = selfSigned('p256');

/**
 * The SHA-256 of the public key of the cutting server's certificate, in base64. A browser that is
 * started with the flag `acceptCertificate(hash)` accepts the certificate.
 */
export function certificateHash(): string {
  const key = createPublicKey(credentials.cert).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('base64');
}

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

function originFor(protocol: Protocol, handle: Handler): net.Server {
  switch (protocol) {
    case 'http1':
      return http.createServer(handle);
    case 'http1-tls':
      return https.createServer(credentials, handle);
    case 'http2-tls': {
      const server = http2.createSecureServer(credentials);
      server.on('request', (request, response) => {
        const path = request.url;
        answer(path, (status, headers, body) => {
          response.stream.respond({ ':status': status, ...headers });
          response.stream.end(body);
        });
      });
      return server;
    }
  }
}

type Respond = (status: number, headers: Record<string, string>, body: string) => void;

function answer(path: string | undefined, respond: Respond): void {
  if (path === movedPath) return respond(307, { location: applyPath }, '');
  const body = path === applyPath ? confirmation : page;
  respond(200, { 'content-type': 'text/html', 'content-length': `${body.length}` }, body);
}

async function listen(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/**
 * Returns a function that passes at most `limit()` bytes in total, and cuts off the rest of a
 * chunk. While `limit()` is undefined, chunks pass and do not count.
 */
function meterFor(limit: () => number | undefined): (chunk: Buffer) => Buffer {
  let passed = 0;
  return (chunk) => {
    const bytesMax = limit();
    if (bytesMax === undefined) return chunk;
    const left = Math.max(0, bytesMax - passed);
    passed += chunk.length;
    return chunk.length > left ? chunk.subarray(0, left) : chunk;
  };
}

export async function startCuttingServer(protocol: Protocol): Promise<CuttingServer> {
  const received: string[] = [];
  let cut: Cut = { kind: 'none' };
  let cutCount = 0;
  /**
   * The connections from the relay to the employer that have carried a request of `received`. The
   * set contains the relay's local port of each connection.
   */
  const submitted = new Set<number>();
  const note = ({ method, url, socket }: http.IncomingMessage): void => {
    if (method === 'GET' || method === 'OPTIONS') return;
    received.push(`${method} ${url}`);
    submitted.add(socket.remotePort ?? 0);
    origin.emit('submission');
  };
  const origin = originFor(protocol, (request, response) => {
    answer(request.url, (status, headers, body) => {
      response.writeHead(status, headers).end(body);
    });
  });
  origin.prependListener('request', note);
  // Errors of cut connections are expected here.
  origin.on('sessionError', () => {});
  origin.on('clientError', (_error, socket: net.Socket) => socket.destroy());
  const originPort = await listen(origin);

  const sockets = new Set<net.Socket>();
  const relay = net.createServer((client) => {
    const upstream = net.connect({ host: '127.0.0.1', port: originPort });
    const both = [client, upstream];
    const madeUnder = cut;
    const end = (): void => both.forEach((socket) => socket.destroy());
    for (const socket of both) {
      sockets.add(socket);
      socket.on('error', end).once('close', () => sockets.delete(socket));
      socket.once('close', end);
    }
    const answers = meterFor(() =>
      cut.kind === 'answer' && submitted.has(upstream.localPort ?? 0) ? cut.bytes : undefined,
    );
    const requests = meterFor(() => (madeUnder.kind === 'request' ? madeUnder.bytes : undefined));
    const pass = (meter: typeof answers, to: net.Socket) => (chunk: Buffer) => {
      const allowed = meter(chunk);
      if (allowed === chunk) return void to.write(chunk);
      cutCount += 1;
      to.end(allowed, end);
    };
    upstream.on('data', pass(answers, client));
    client.on('data', pass(requests, upstream));
  });
  return {
    port: await listen(relay),
    received,
    arrivedWithin: (timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        origin.once('submission', () => {
          clearTimeout(timer);
          resolve();
        });
      }),
    setCut(next) {
      cut = next;
    },
    cuts: () => cutCount,
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([relay, origin].map((server) => new Promise((done) => server.close(done))));
    },
  };
}
