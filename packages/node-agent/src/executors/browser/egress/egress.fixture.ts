import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { type EgressProxy, startEgressProxy } from './proxy.ts';

export type Cleanups = (() => Promise<unknown>)[];

export async function closeAll(cleanups: Cleanups): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}

export async function listen(server: net.Server, cleanups: Cleanups): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export async function proxyTo(
  ports: Readonly<Record<string, number>>,
  cleanups: Cleanups,
  lookUp?: (name: string) => Promise<readonly string[]>,
): Promise<EgressProxy> {
  const entries = Object.entries(ports).map(
    ([key, port]) => [key, { address: '127.0.0.1', port }] as const,
  );
  const hostMap = new Map(entries);
  const proxy = await startEgressProxy(lookUp === undefined ? { hostMap } : { hostMap, lookUp });
  cleanups.push(() => proxy.close());
  return proxy;
}

export interface Client {
  readonly socket: net.Socket;
  received(): string;
  until(text: string): Promise<void>;
  closed: Promise<void>;
}

export async function connectTo(proxy: EgressProxy): Promise<Client> {
  const socket = net.connect({ host: '127.0.0.1', port: Number(new URL(proxy.url).port) });
  socket.on('error', () => {});
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  await once(socket, 'connect');
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return {
    socket,
    received: () => text,
    closed,
    async until(wanted) {
      while (!text.includes(wanted)) {
        if (socket.destroyed || socket.readableEnded)
          throw new Error(`the connection ended after: ${text}`);
        await Promise.race([once(socket, 'data'), closed]);
      }
    },
  };
}

export async function tunnelTo(proxy: EgressProxy, authority: string): Promise<Client> {
  const client = await connectTo(proxy);
  client.socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  await client.until('\r\n\r\n');
  return client;
}

export async function requestThrough(
  proxy: EgressProxy,
  url: string,
  options: { readonly method?: string; readonly body?: string; readonly agent?: http.Agent } = {},
): Promise<{ readonly statusCode: number; readonly body: string }> {
  const { hostname, port } = new URL(proxy.url);
  const request = http.request({
    hostname,
    port,
    method: options.method ?? 'GET',
    path: url,
    headers: { host: new URL(url).host, 'proxy-connection': 'keep-alive' },
    agent: options.agent ?? false,
  });
  return await new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ statusCode: response.statusCode ?? 0, body }));
    });
    request.end(options.body);
  });
}
