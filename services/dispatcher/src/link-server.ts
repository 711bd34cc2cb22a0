import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';

import { nodeLinkSubprotocol } from '@svc/contracts';
import { errorCatalogue, frameFromNodeBytesMax, headersBytesMax } from '@svc/domain';
import type { Clock, Logger } from '@svc/runtime';
import { WebSocketServer, type WebSocket } from 'ws';

import { attachSocket, transportOf, type LinkSocket } from './link-socket.ts';
import type { LinkTransport } from './links.ts';
import type { OpenLink } from './node-link.ts';
import { requestIdOf, writeRefusal } from './refusal.ts';
import type { UpgradeDecision, UpgradeRefusal } from './upgrade.ts';

export interface LinkServer {
  readonly port: number;
  /** Takes no more links. */
  stopListening(): void;
  /** Waits a moment for the closing handshakes, then cuts what is left. */
  close(): Promise<void>;
}

export interface LinkServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  decide(request: IncomingMessage): Promise<UpgradeDecision>;
  open(transport: LinkTransport, node: { nodeId: string; draining: boolean }): OpenLink;
  readonly clock: Clock;
  readonly logger: Logger;
}

const heartbeatCheckMs = 1_000;
/** How long a node has to answer the closing handshake. */
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
  detail: 'This dispatcher is closing; connect again.',
};
const fault: UpgradeRefusal = {
  kind: 'refused',
  code: 'unavailable',
  detail: 'A part of the service cannot be reached; connect again.',
};

function createHttp(options: LinkServerOptions, listener: RequestListener): Server {
  const limits = { maxHeaderSize: headersBytesMax };
  return options.tls === null
    ? createServer(limits, listener)
    : createTlsServer({ ...limits, ...options.tls }, listener);
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port to listen on');
  return address.port;
}

/**
 * The WebSocket server of the node link: signed upgrades only, no compression, bounded frames, and
 * a heartbeat that notices a dead link (CONTRACT section 7). A refusal is an ordinary HTTP problem.
 */
export async function startLinkServer(options: LinkServerOptions): Promise<LinkServer> {
  const { logger, clock } = options;
  const sockets = new Set<LinkSocket>();
  let isClosing = false;
  const webSockets = new WebSocketServer(socketOptions);

  async function decide(request: IncomingMessage): Promise<UpgradeDecision> {
    if (isClosing) return closing;
    try {
      const decision = await options.decide(request);
      return isClosing && decision.kind === 'accepted' ? closing : decision;
    } catch (error) {
      logger.error({ err: error }, 'could not decide on a node link');
      return fault;
    }
  }

  function refuse(request: IncomingMessage, socket: Duplex, refusal: UpgradeRefusal): void {
    const requestId = requestIdOf(request);
    logger.info({ requestId, code: refusal.code, detail: refusal.detail }, 'node link refused');
    writeRefusal(socket, refusal, requestId);
  }

  function accept(webSocket: WebSocket, node: { nodeId: string; draining: boolean }): void {
    const link = options.open(transportOf(webSocket, logger), node);
    const socket = attachSocket(webSocket, link, { clock, logger });
    sockets.add(socket);
    webSocket.once('close', () => sockets.delete(socket));
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const decision = await decide(request);
    if (decision.kind === 'refused') refuse(request, socket, decision);
    else webSockets.handleUpgrade(request, socket, head, (opened) => accept(opened, decision));
  }

  /** A request that asks for no upgrade is never accepted. */
  async function refusePlain(request: IncomingMessage): Promise<void> {
    const decision = await decide(request);
    refuse(request, request.socket, decision.kind === 'refused' ? decision : fault);
  }

  webSockets.on('wsClientError', (error, socket, request) => {
    refuse(request, socket, { kind: 'refused', code: 'bad_request', detail: error.message });
  });
  const server = createHttp(options, (request) => {
    void refusePlain(request);
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    void upgrade(request, socket, head);
  });
  server.on('clientError', (_error, socket) => {
    const { description } = errorCatalogue.bad_request;
    const refusal = { kind: 'refused', code: 'bad_request', detail: description } as const;
    if (socket.writable) writeRefusal(socket, refusal, requestIdOf(undefined));
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const heartbeat = setInterval(() => {
    for (const socket of sockets) socket.checkHeartbeat();
  }, heartbeatCheckMs);

  return {
    port: portOf(server),
    stopListening() {
      isClosing = true;
    },
    async close() {
      isClosing = true;
      clearInterval(heartbeat);
      const closed = once(server, 'close');
      server.close();
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.terminate();
        server.closeAllConnections();
      }, closeTimeoutMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
