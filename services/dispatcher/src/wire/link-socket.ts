import type { Duplex } from 'node:stream';
import { frameToNodeBytesMax, heartbeatSeconds, linkSilentMs } from '@svc/domain';
import type { Clock, Logger } from '@svc/runtime';
import type { RawData, WebSocket } from 'ws';
import type { LinkTransport } from '../links/links.ts';
import type { OpenLink } from './node-link.ts';

/**
 * The most bytes buffered for a node that does not read. If more bytes wait, the dispatcher cuts
 * the link.
 */
export const unreadBytesMax = 2 * frameToNodeBytesMax;
/** The interval of heartbeat checks. */
export const heartbeatCheckMs = 500;

export interface LinkSocket {
  checkHeartbeat(): void;
  terminate(): void;
}

/**
 * Makes all frames of one turn of the event loop leave in one write. Call the returned function
 * before each write to `connection`.
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
 * Makes the transport of a link. `send` does nothing if the socket is not open. If more than
 * `unreadBytesMax` bytes wait for the node after a frame was sent, `send` cuts the link.
 */
export function transportOf(socket: WebSocket, connection: Duplex, logger: Logger): LinkTransport {
  const cork = createTurnCork(connection);
  return {
    send(text) {
      if (socket.readyState !== socket.OPEN) return;
      cork();
      socket.send(text);
      if (socket.bufferedAmount <= unreadBytesMax) return;
      logger.warn(
        { unreadBytes: socket.bufferedAmount },
        'dropped the link of a node that does not read the frames sent to it',
      );
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

/**
 * Passes frames from the socket to its link. The returned `checkHeartbeat` pings the node, and cuts
 * the link if it is silent (CONTRACT 7).
 */
export function attachSocket(
  socket: WebSocket,
  link: OpenLink,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): LinkSocket {
  let receivedAtMs = clock.monotonicMs();
  let pingedAtMs = receivedAtMs;
  const noteReceived = (): void => {
    receivedAtMs = clock.monotonicMs();
  };
  socket.on('message', (data, isBinary) => {
    noteReceived();
    link.receive(isBinary ? undefined : textOf(data));
  });
  socket.on('ping', noteReceived);
  socket.on('pong', noteReceived);
  // `ws` reports an oversized frame (1009) or invalid UTF-8 (1007) here, and closes the socket
  // itself.
  socket.on('error', (error) => logger.info({ err: error }, 'node link failed'));
  socket.on('close', () => link.closed());
  return {
    checkHeartbeat() {
      const nowMs = clock.monotonicMs();
      // Drops the link now if its silence could exceed `linkSilentMs` before the next check
      // (CONTRACT 7).
      if (nowMs - receivedAtMs > linkSilentMs - heartbeatCheckMs) {
        logger.info('dropped a silent node link');
        socket.terminate();
      } else if (nowMs - pingedAtMs >= heartbeatSeconds * 1000) {
        pingedAtMs = nowMs;
        socket.ping();
      }
    },
    terminate: () => socket.terminate(),
  };
}
