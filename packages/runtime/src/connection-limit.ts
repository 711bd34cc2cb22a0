import type { Server, Socket } from 'node:net';
import { addressGroup } from './address-group.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { TrustedProxies } from './trusted-proxies.ts';

/** The limits of the connections to one server of one process (CONTRACT 2). */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  /** For one IPv4 address or IPv6 /64 network. */
  readonly addressConnectionsMax: number;
}

/** The least time between two log lines about closed connections. */
const lineEveryMs = 60_000;

/**
 * Closes a new connection at once if its server or its address has too many. A trusted proxy serves
 * many clients, so only the limit of the server counts for it.
 */
export function limitConnections(
  server: Server,
  {
    limits: { connectionsMax, addressConnectionsMax },
    proxies,
    clock,
    logger,
  }: {
    readonly limits: ConnectionLimits;
    readonly proxies: TrustedProxies;
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly logger: Logger;
  },
): void {
  const open = new Map<string, number>();
  let total = 0;
  let closed = 0;
  let lineAfterMs = -Infinity;

  function refuse(socket: Socket): void {
    socket.destroy();
    closed += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs < lineAfterMs) return;
    logger.warn({ connections: closed }, 'connections over the limit were closed');
    closed = 0;
    lineAfterMs = nowMs + lineEveryMs;
  }

  // The listener comes first, so that no other one works for a connection that is closed.
  server.prependListener('connection', (socket: Socket) => {
    const peer = socket.remoteAddress;
    const group = proxies.isTrusted(peer) ? null : addressGroup(peer);
    const own = group === null ? 0 : (open.get(group) ?? 0);
    if (total >= connectionsMax || own >= addressConnectionsMax) {
      refuse(socket);
      return;
    }
    total += 1;
    if (group !== null) open.set(group, own + 1);
    socket.once('close', () => {
      total -= 1;
      if (group === null) return;
      const left = (open.get(group) ?? 0) - 1;
      if (left > 0) open.set(group, left);
      else open.delete(group);
    });
  });
}
