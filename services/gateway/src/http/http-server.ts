import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { problemMediaType } from '@svc/contracts';
import { errorCatalogue } from '@svc/domain';
import {
  answerRaw,
  brokenRequestCode,
  type ConnectionLimits,
  httpServerLimits,
  limitConnections,
  listenOrRefuse,
  type Logger,
  noTrustedProxies,
  systemClock,
  tlsServerLimits,
  type TrustedProxies,
} from '@svc/runtime';
import { notFound, problem, type ProblemAnswer, problemBody } from './answer.ts';
import type { RequestLines } from './request-lines.ts';

/**
 * The limits for the arrival of the headers and of the whole request. Node checks both every
 * `checkEveryMs`.
 */
interface ClientTimeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkEveryMs: number;
}
const defaultTimeouts: ClientTimeouts = {
  headersMs: httpServerLimits.headersTimeout,
  requestMs: httpServerLimits.requestTimeout,
  checkEveryMs: httpServerLimits.connectionsCheckingInterval,
};
/**
 * During a close, requests in flight have this long to finish. The process must stop within 10 s
 * and needs the rest to close its other resources.
 */
const drainTimeoutMs = 8_000;
/**
 * During a close, idle connections stay open this long, because a request may already be on its way
 * on one of them. Such a request still gets its answer.
 */
const idleCloseDelayMs = 250;

export interface HttpServer {
  readonly port: number;
  /**
   * Stops accepting connections and lets the requests that are in flight or on their way finish.
   * After `drainTimeoutMs` it closes the connections that are left.
   */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly listener: RequestListener;
  readonly newId: () => string;
  readonly logger: Logger;
  readonly requestLines: RequestLines;
  readonly timeouts?: ClientTimeouts;
  /** If omitted, the number of connections is not limited. */
  readonly connections?: ConnectionLimits;
  /** The proxies whose connections count only for the whole process. If omitted, none. */
  readonly proxies?: TrustedProxies;
  /** PEM texts. Null or omitted for plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | null;
}

/**
 * Starts the HTTP or HTTPS server. It also answers bytes that cannot be parsed as a request
 * (CONTRACT 2).
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const current = new WeakMap<Duplex, ServerResponse>();
  const unanswered = new Set<ServerResponse>();
  const timeouts = options.timeouts ?? defaultTimeouts;
  let closing = false;
  const listener: RequestListener = (request, response) => {
    current.set(request.socket, response);
    if (closing) response.setHeader('connection', 'close');
    unanswered.add(response);
    response.once('close', () => unanswered.delete(response));
    options.listener(request, response);
  };
  const server = createServerOf(options.tls ?? null, timeouts, listener);
  limitConnectionsOf(server, options);
  // Without these two listeners, Node would send `100 Continue` itself, and answer 417 to other
  // values of `Expect`.
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('connect', (_request, socket) => refuseRaw(socket, notFound, options.newId()));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    answerBroken(error, socket, current.get(socket), options);
  });
  const { host, port: wanted } = options;
  const variables = { host: 'BIND_HOST', port: 'GATEWAY_PORT' };
  const port = await listenOrRefuse(server, { host, port: wanted, variables });
  return {
    port,
    async close() {
      closing = true;
      const closed = once(server, 'close');
      // This call only stops listening. `server.close()` would also close idle connections at once.
      NetServer.prototype.close.call(server);
      // Without this header a keep-alive connection would outlive its answer and delay the close.
      for (const response of unanswered) {
        if (!response.headersSent) response.setHeader('connection', 'close');
      }
      const timer = setTimeout(() => {
        options.logger.warn(
          { drainTimeoutMs },
          'connections were still open at the drain timeout and were closed',
        );
        server.closeAllConnections();
      }, drainTimeoutMs);
      await Promise.race([closed, sleep(idleCloseDelayMs)]);
      // Closes the idle connections at once. Each other connection closes after its answer with
      // `connection: close`, or at the latest after `drainTimeoutMs`.
      server.close();
      await closed;
      clearTimeout(timer);
    },
  };
}

function limitConnectionsOf(server: NetServer, options: HttpServerOptions): void {
  const { connections: limits, proxies = noTrustedProxies, logger } = options;
  if (limits === undefined) return;
  limitConnections(server, { limits, proxies, clock: systemClock, logger });
}

function createServerOf(
  tls: { readonly cert: string; readonly key: string } | null,
  timeouts: ClientTimeouts,
  listener: RequestListener,
): Server | TlsServer {
  const http = {
    ...httpServerLimits,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
    // By default, Node refuses an HTTP/1.1 request without a Host header and sends no body. `false`
    // lets the gateway answer with a problem document.
    requireHostHeader: false,
  };
  if (tls === null) return createServer(http, listener);
  return createTlsServer({ ...http, ...tls, ...tlsServerLimits }, listener);
}

/**
 * Handles an error for which Node raises `clientError`: a bad or slow request, or a broken
 * connection. Answers the request if that is still possible.
 */
function answerBroken(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  response: ServerResponse | undefined,
  options: HttpServerOptions,
): void {
  if (error.code === 'ECONNRESET') socket.destroy();
  // A socket that is not writable gets no answer. Either the connection is broken, or the gateway
  // has already refused the request and the client keeps sending.
  if (!socket.writable) return;
  if (response?.req.complete === true && !response.writableFinished) {
    // The error concerns a later request on this connection. The request in flight still gets its
    // answer.
    if (!response.headersSent) response.setHeader('connection', 'close');
    response.once('finish', () => socket.destroy());
    return;
  }
  if (response?.req.complete === false && response.headersSent) {
    socket.destroy();
    return;
  }
  const code = brokenRequestCode(error);
  const requestId = options.newId();
  if (options.requestLines.admits({ status: errorCatalogue[code].status, durationMs: 0 })) {
    options.logger.info(
      { requestId, code, reason: error.code },
      'refused a request that is malformed, too large or too slow',
    );
  }
  refuseRaw(socket, problem(code, errorCatalogue[code].description), requestId);
}

function refuseRaw(socket: Duplex, answer: ProblemAnswer, requestId: string): void {
  const headers = [`content-type: ${problemMediaType}`, 'x-content-type-options: nosniff'];
  answerRaw(socket, problemBody(answer, requestId), headers);
}
