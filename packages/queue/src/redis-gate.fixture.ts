import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy that makes a Redis server unreachable and reachable again. */
export interface RedisGate {
  readonly redisUrl: string;
  /** Cuts every connection and refuses new ones. */
  shut(): void;
  open(): void;
  /** Silently drops all further data of the present connections. New connections work. */
  freeze(): void;
  close(): Promise<void>;
}

export async function createRedisGate(redisUrl: string): Promise<RedisGate> {
  const target = new URL(redisUrl);
  const sockets = new Set<Socket>();
  const freezers = new Map<Socket, () => void>();
  let isOpen = true;

  function keep(socket: Socket): Socket {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    return socket;
  }

  const server = createServer((inward) => {
    keep(inward);
    if (!isOpen) {
      inward.destroy();
      return;
    }
    const outward = keep(connect(Number(target.port), target.hostname));
    freezers.set(inward, () => {
      inward.unpipe(outward).resume();
      outward.unpipe(inward).resume();
    });
    inward.pipe(outward).pipe(inward);
    inward.on('close', () => {
      freezers.delete(inward);
      outward.destroy();
    });
    outward.on('close', () => inward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const gateUrl = new URL(redisUrl);
  gateUrl.port = String(address.port);

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  return {
    redisUrl: gateUrl.href,
    shut() {
      isOpen = false;
      cut();
    },
    open() {
      isOpen = true;
    },
    freeze() {
      for (const freeze of freezers.values()) freeze();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
