import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { listenOrRefuse } from './listen.ts';

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface AdminServerOptions {
  readonly host: string;
  readonly port: number;
  /**
   * The names of unavailable dependencies, and other reasons as sentences. An empty list means
   * ready.
   */
  ready(): Promise<readonly string[]>;
  readonly metrics: Registry;
  readonly logger: Logger;
}

const requestTimeoutMs = 5_000;

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function route(
  options: AdminServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  switch (request.url?.split('?')[0] ?? '') {
    case '/live':
      answer(response, 200, { status: 'live' });
      return;
    case '/ready': {
      const missing = await options.ready();
      if (missing.length === 0) answer(response, 200, { status: 'ready' });
      else answer(response, 503, { status: 'not_ready', missing });
      return;
    }
    case '/metrics':
      response.writeHead(200, { 'content-type': options.metrics.contentType });
      response.end(await options.metrics.metrics());
      return;
    default:
      answer(response, 404, { status: 'not_found' });
  }
}

/**
 * Opens the port of `/live`, `/ready` and `/metrics`. It has no authentication, so tenants must not
 * be able to reach it.
 */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    route(options, request, response).catch((error: unknown) => {
      options.logger.error({ err: error, url: request.url }, 'a request to the admin port failed');
      if (!response.headersSent) answer(response, 500, { status: 'error' });
      else response.destroy();
    });
  });
  const { host, port } = options;
  const variables = { host: 'ADMIN_HOST', port: 'ADMIN_PORT' };
  return {
    port: await listenOrRefuse(server, { host, port, variables }),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
