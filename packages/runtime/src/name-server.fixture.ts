import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export const typeA = 1;
const typeAaaa = 28;

const answers = new Map([
  [typeA, [127, 0, 0, 1]],
  [typeAaaa, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
]);

interface Drop {
  /** The queries that get no answer, by the first label of their name and their type. */
  readonly isDropped: (label: string, type: number) => boolean;
}

/** Starts a name server on loopback. Each name has one address of each family: that of loopback. */
export async function startNameServer({ isDropped }: Drop) {
  const asked: { readonly label: string; readonly type: number }[] = [];
  const server = createSocket('udp4');
  server.on('message', (query, from) => {
    const label = query.subarray(13, 13 + (query[12] ?? 0)).toString();
    const end = query.indexOf(0, 12) + 5;
    const type = query.readUInt16BE(end - 4);
    asked.push({ label, type });
    if (isDropped(label, type)) return;
    const address = answers.get(type) ?? [];
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 6);
    header.fill(0, 8, 12);
    const fixed = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length]);
    const parts = [header, query.subarray(12, end), fixed, Buffer.from(address)];
    server.send(Buffer.concat(parts), from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${server.address().port}`,
    /** How many queries of this type have come. */
    count: (type: number) => asked.filter((one) => one.type === type).length,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}
