import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy in front of Postgres. It can change or lose answers, fall silent, and count round trips. */
export interface DatabaseGate {
  readonly databaseUrl: string;
  /** Silently drops all data from this call on. New connections are accepted but get no answer. */
  stall(): void;
  /**
   * Cuts the connection when the server answers the next statement that has `marker` among its
   * parameters. The statement has run, but the client gets no answer.
   */
  loseAnswerTo(marker: string): void;
  /** Replaces `found` in all answers of the server with `other`, which has the same length. */
  rewrite(found: string, other: string): void;
  /**
   * The number of round trips over all connections. A round trip begins when a client sends its
   * first data, or its first data after an answer.
   */
  roundTrips(): number;
  close(): Promise<void>;
}

export async function openDatabaseGate(databaseUrl: string): Promise<DatabaseGate> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const markers = new Set<string>();
  const rewritten = new Map<string, string>();
  let isStalled = false;
  let roundTrips = 0;

  function keep(socket: Socket): Socket {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  }

  function rewrite(chunk: Buffer): Buffer {
    let text = chunk.toString('latin1');
    for (const [found, other] of rewritten) text = text.replaceAll(found, other);
    return Buffer.from(text, 'latin1');
  }

  const server = createServer((client) => {
    const upstream = keep(connect(Number(target.port), target.hostname));
    let isLost = false;
    let isAnswered = true;
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
    };
    keep(client).on('close', cut);
    upstream.on('close', cut);
    client.on('data', (chunk) => {
      if (isStalled) return;
      if (isAnswered) roundTrips += 1;
      isAnswered = false;
      for (const marker of markers) {
        if (chunk.includes(marker)) isLost = markers.delete(marker);
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      isAnswered = true;
      if (isLost) cut();
      else if (!isStalled) client.write(rewrite(chunk));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the database gate does not listen on a TCP port');
  const url = new URL(databaseUrl);
  url.port = String(address.port);
  return {
    databaseUrl: url.href,
    stall: () => void (isStalled = true),
    loseAnswerTo: (marker) => void markers.add(marker),
    rewrite: (found, other) => void rewritten.set(found, other),
    roundTrips: () => roundTrips,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
