import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy between two parts of the system. A test can cut, block or slow down its connections. */
export interface TcpProxy {
  readonly name: string;
  readonly port: number;
  connections(): number;
  /** Resets every open connection, even in the middle of a message. */
  cut(): void;
  /** Resets every open connection, and each new one until `heal`. */
  sever(): void;
  /**
   * Holds all bytes of both directions until `heal`, and closes no connection. The held bytes of a
   * connection are lost if one of its ends breaks.
   */
  stall(): void;
  /** Delays all bytes by this time, in order, until `heal`. */
  delay(ms: number): void;
  heal(): void;
  close(): Promise<void>;
}

export interface TcpTarget {
  /** Default 127.0.0.1. */
  readonly host?: string;
  readonly port: number;
}

interface Fault {
  delayMs: number;
  isStalled: boolean;
  isSevered: boolean;
}

const loopback = '127.0.0.1';
/**
 * The proxy stops reading from a sender when it holds this many bytes from the sender. It also
 * stops when this many bytes wait in the socket to the receiver.
 */
const heldBytesMax = 1024 * 1024;

/**
 * Listens on `host`, and connects each new connection to the address from `target`. Resets the
 * connection if there is no address, or between `sever` and `heal`.
 */
export async function startTcpProxy(
  name: string,
  target: () => TcpTarget | undefined,
  host = loopback,
): Promise<TcpProxy> {
  const fault: Fault = { delayMs: 0, isStalled: false, isSevered: false };
  const connections = new Set<Connection>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const to = fault.isSevered ? undefined : target();
    near.on('error', () => {});
    if (to === undefined) {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ host: loopback, ...to, allowHalfOpen: true, noDelay: true });
    near.setNoDelay(true);
    const connection = createConnection(near, far, fault);
    connections.add(connection);
    near.once('close', () => connections.delete(connection));
  });
  server.on('error', () => {});
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a proxy has no port');
  const cut = (): void => {
    for (const connection of connections) connection.cut();
  };
  const change = (to: Partial<Fault>): void => {
    Object.assign(fault, to);
    for (const connection of connections) connection.look();
  };
  return {
    name,
    port: address.port,
    connections: () => connections.size,
    cut,
    sever() {
      change({ isSevered: true });
      cut();
    },
    stall: () => change({ isStalled: true }),
    delay: (delayMs) => change({ delayMs }),
    heal: () => change({ delayMs: 0, isStalled: false, isSevered: false }),
    async close() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}

interface Connection {
  cut(): void;
  /**
   * Passes on the waiting bytes whose delay has passed, or all of them if the delay is 0. Passes on
   * nothing between `stall` and `heal`. Called after each change of the proxy's `Fault`.
   */
  look(): void;
}

function createConnection(near: Socket, far: Socket, fault: Fault): Connection {
  const ways = [createWay(near, far, fault), createWay(far, near, fault)];
  const cut = (): void => {
    for (const way of ways) way.stop();
    near.resetAndDestroy();
    far.resetAndDestroy();
  };
  for (const end of [near, far]) {
    // If the connection to one side breaks, break the connection to the other side too. Without a
    // proxy, the other side would also notice the break.
    end.on('error', cut);
    end.once('close', (hadError) => {
      if (hadError || !near.writableEnded || !far.writableEnded) cut();
    });
  }
  return {
    cut,
    look() {
      for (const way of ways) way.look();
    },
  };
}

interface Held {
  readonly dueAtMs: number;
  /** Undefined for the end of the stream. */
  readonly chunk: Buffer | undefined;
}

function createWay(from: Socket, to: Socket, fault: Fault) {
  const held: Held[] = [];
  let heldBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (fault.isStalled) return;
    for (let next = held[0]; next !== undefined; next = held[0]) {
      const restMs = fault.delayMs === 0 ? 0 : next.dueAtMs - performance.now();
      if (restMs > 0) {
        timer = setTimeout(look, restMs);
        return;
      }
      held.shift();
      if (next.chunk === undefined) {
        to.end();
      } else {
        heldBytes -= next.chunk.length;
        to.write(next.chunk);
      }
    }
    if (heldBytes < heldBytesMax && to.writableLength < heldBytesMax) from.resume();
  };
  const hold = (chunk: Buffer | undefined): void => {
    held.push({ dueAtMs: performance.now() + fault.delayMs, chunk });
    heldBytes += chunk?.length ?? 0;
    look();
    if (heldBytes >= heldBytesMax || to.writableLength >= heldBytesMax) from.pause();
  };
  from.on('data', hold);
  from.once('end', () => hold(undefined));
  to.on('drain', look);
  return {
    look,
    stop(): void {
      clearTimeout(timer);
      held.length = 0;
    },
  };
}
