import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { nodeLinkSubprotocol } from '@svc/contracts';
import { errorCatalogue, frameFromNodeBytesMax } from '@svc/domain';
import {
  brokenRequestCode,
  httpServerLimits,
  limitConnections,
  listenOrRefuse,
  newId,
  requestIdOf,
  tlsServerLimits,
  type Clock,
  type ConnectionLimits,
  type Logger,
  type TrustedProxies,
} from '@svc/runtime';
import { WebSocketServer, type WebSocket } from 'ws';
import type { LinkTransport } from '../links/links.ts';
import { attachSocket, heartbeatCheckMs, transportOf, type LinkSocket } from './link-socket.ts';
import type { OpenLink } from './node-link.ts';
import { writeRefusal } from './refusal.ts';
import type { AcceptedNode, UpgradeDecision, UpgradeRefusal } from './upgrade.ts';

export interface LinkServer {
  readonly port: number;
  /** Refuses new links from this call on. Links that are open stay open. */
  stopListening(): void;
  /** Waits up to one second for the closing handshakes, then cuts the connections that are left. */
  close(): Promise<void>;
}

export interface LinkServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly connections: ConnectionLimits;
  readonly proxies: TrustedProxies;
  decide(request: IncomingMessage): Promise<UpgradeDecision>;
  open(transport: LinkTransport, node: AcceptedNode): OpenLink;
  readonly clock: Clock;
  readonly logger: Logger;
}

const closeTimeoutMs = 1_000;

const socketOptions = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: frameFromNodeBytesMax,
  closeTimeout: closeTimeoutMs,
  handleProtocols: () => nodeLinkSubprotocol,
};

const closing: UpgradeRefusal = {
  kind: 'refused',
  code: 'unavailable',
  detail: 'This dispatcher is closing. Connect again.',
};
const fault: UpgradeRefusal = {
  kind: 'refused',
  code: 'unavailable',
  detail: 'The service could not check this connection. Connect again.',
};

function createHttp(options: LinkServerOptions, listener: RequestListener): Server {
  const server =
    options.tls === null
      ? createServer(httpServerLimits, listener)
      : createTlsServer({ ...httpServerLimits, ...options.tls, ...tlsServerLimits }, listener);
  const { connections: limits, proxies, clock, logger } = options;
  limitConnections(server, { limits, proxies, clock, logger });
  return server;
}

interface State {
  readonly options: LinkServerOptions;
  readonly webSockets: WebSocketServer;
  readonly sockets: Set<LinkSocket>;
  isClosing: boolean;
}

async function decide(state: State, request: IncomingMessage): Promise<UpgradeDecision> {
  if (state.isClosing) return closing;
  try {
    const decision = await state.options.decide(request);
    return state.isClosing && decision.kind === 'accepted' ? closing : decision;
  } catch (error) {
    state.options.logger.error({ err: error }, 'could not decide whether to accept a node link');
    return fault;
  }
}

function refuse(
  { options }: State,
  request: IncomingMessage,
  socket: Duplex,
  refusal: UpgradeRefusal,
): void {
  const requestId = requestIdOf(request.headers['x-request-id'], newId);
  const { code, detail } = refusal;
  options.logger.info({ requestId, code, detail }, 'node link refused');
  writeRefusal(socket, refusal, requestId);
}

function accept(
  { options, sockets }: State,
  webSocket: WebSocket,
  connection: Duplex,
  node: AcceptedNode,
): void {
  const link = options.open(transportOf(webSocket, connection, options.logger), node);
  const socket = attachSocket(webSocket, link, options);
  sockets.add(socket);
  webSocket.once('close', () => sockets.delete(socket));
}

async function upgrade(
  state: State,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  const decision = await decide(state, request);
  if (decision.kind === 'refused') {
    refuse(state, request, socket, decision);
    return;
  }
  state.webSockets.handleUpgrade(request, socket, head, (opened) =>
    accept(state, opened, socket, decision),
  );
}

function dropWhenFailed(state: State, connection: Duplex, work: Promise<void>): void {
  work.catch((error: unknown) => {
    state.options.logger.error(
      { err: error },
      'could not handle an HTTP request to the node link port',
    );
    connection.destroy();
  });
}

async function refusePlain(state: State, request: IncomingMessage): Promise<void> {
  const decision = await decide(state, request);
  refuse(state, request, request.socket, decision.kind === 'refused' ? decision : fault);
}

function serve(state: State): Server {
  const { webSockets } = state;
  webSockets.on('wsClientError', (error, socket, request) => {
    const refusal = { kind: 'refused', code: 'bad_request', detail: error.message } as const;
    refuse(state, request, socket, refusal);
  });
  const server = createHttp(state.options, (request) =>
    dropWhenFailed(state, request.socket, refusePlain(state, request)),
  );
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    dropWhenFailed(state, socket, upgrade(state, request, socket, head));
  });
  server.on('clientError', (error, socket) => {
    const code = brokenRequestCode(error);
    const refusal = { kind: 'refused', code, detail: errorCatalogue[code].description } as const;
    if (socket.writable) writeRefusal(socket, refusal, newId());
  });
  return server;
}

/**
 * Starts the WebSocket server of the node link (CONTRACT 7). A refused request gets an HTTP answer
 * with a problem document.
 */
export async function startLinkServer(options: LinkServerOptions): Promise<LinkServer> {
  const webSockets = new WebSocketServer(socketOptions);
  const state: State = { options, webSockets, sockets: new Set(), isClosing: false };
  const server = serve(state);
  const { host, port: wanted } = options;
  const variables = { host: 'BIND_HOST', port: 'NODE_LINK_PORT' };
  const port = await listenOrRefuse(server, { host, port: wanted, variables });
  const heartbeat = setInterval(() => {
    for (const socket of state.sockets) socket.checkHeartbeat();
  }, heartbeatCheckMs);
  return {
    port,
    stopListening() {
      state.isClosing = true;
    },
    async close() {
      state.isClosing = true;
      clearInterval(heartbeat);
      const closed = once(server, 'close');
      server.close();
      const timer = setTimeout(() => {
        for (const socket of state.sockets) socket.terminate();
        server.closeAllConnections();
      }, closeTimeoutMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
