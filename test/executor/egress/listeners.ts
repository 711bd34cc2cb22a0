import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';

export interface Listeners {
  /**
   * One text for each TCP connection and UDP datagram that arrived. For TCP, the local address and
   * port: `tcp 127.0.0.1:80`. For UDP, only the local port: `udp :80`.
   */
  readonly contacts: string[];
  close(): void;
}

export async function listenEverywhere(ports: readonly number[]): Promise<Listeners> {
  const contacts: string[] = [];
  const servers = ports.map((port) =>
    net
      .createServer((socket) => {
        contacts.push(`tcp ${socket.localAddress?.replace('::ffff:', '')}:${port}`);
        socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      })
      .listen(port, '::'),
  );
  const sockets = ports.map((port) => {
    const socket = dgram.createSocket({ type: 'udp6', reuseAddr: true });
    socket.on('message', () => contacts.push(`udp :${port}`)).bind(port, '::');
    return socket;
  });
  await Promise.all([...servers, ...sockets].map((one) => once(one, 'listening')));
  return {
    contacts,
    close() {
      for (const one of [...servers, ...sockets]) one.close();
    },
  };
}
