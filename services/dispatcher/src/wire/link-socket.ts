import type { Duplex } from 'node:stream';

import { frameToNodeBytesMax, heartbeatSeconds, linkSilentMs } from '@svc/domain';
import type { Clock, Logger } from '@svc/runtime';
import type { RawData, WebSocket } from 'ws';

import type { LinkTransport } from '../links/links.ts';
import type { OpenLink } from './node-link.ts';

/** A node that leaves more than this unread is dropped, not buffered for. */
export const unreadBytesMax = 2 * frameToNodeBytesMax;
/** How often heartbeats are looked after: so much sooner a silent link is dropped, to be in time. */
export const heartbeatCheckMs = 500;

export interface LinkSocket {
  /** Pings where it is time, and drops a socket that has been silent for too long. */
  checkHeartbeat(): void;
  terminate(): void;
}

/**
 * Holds back what is written to `connection` until this turn of the event loop has heard all that
 * came in over sockets: the frames of one turn leave in one write, and no frame waits beyond it.
 */
function createTurnCork(connection: Duplex): () => void {
  let isCorked = false;
  return () => {
    if (isCorked) return;
    isCorked = true;
    connection.cork();
    setImmediate(() => {
      isCorked = false;
      connection.uncork();
    });
  };
}

/**
 * The transport of a link over its WebSocket, and over the connection below that. Sending to one
 * that is closed does nothing.
 */
export function transportOf(socket: WebSocket, connection: Duplex, logger: Logger): LinkTransport {
  const cork = createTurnCork(connection);
  return {
    send(text) {
      if (socket.readyState !== socket.OPEN) return;
      cork();
      socket.send(text);
      if (socket.bufferedAmount <= unreadBytesMax) return;
      logger.warn({ unreadBytes: socket.bufferedAmount }, 'dropped a node that does not read');
      socket.terminate();
    },
    close: (code, reason) => socket.close(code, reason),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  };
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return (data instanceof ArrayBuffer ? Buffer.from(data) : data).toString('utf8');
}

/** Reads a socket into its link, and watches whether anybody is there (CONTRACT 7). */
export function attachSocket(
  socket: WebSocket,
  link: OpenLink,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): LinkSocket {
  let heardAtMs = clock.monotonicMs();
  let pingedAtMs = heardAtMs;
  const heard = (): void => {
    heardAtMs = clock.monotonicMs();
  };
  socket.on('message', (data, isBinary) => {
    heard();
    link.receive(isBinary ? undefined : textOf(data));
  });
  socket.on('ping', heard);
  socket.on('pong', heard);
  // An oversized frame (1009) and text that is no UTF-8 (1007) arrive here; `ws` closes by itself.
  socket.on('error', (error) => logger.info({ err: error }, 'node link broke'));
  socket.on('close', () => link.closed());
  return {
    checkHeartbeat() {
      const nowMs = clock.monotonicMs();
      if (nowMs - heardAtMs > linkSilentMs - heartbeatCheckMs) {
        logger.info('dropped a silent node');
        socket.terminate();
      } else if (nowMs - pingedAtMs >= heartbeatSeconds * 1000) {
        pingedAtMs = nowMs;
        socket.ping();
      }
    },
    terminate: () => socket.terminate(),
  };
}
