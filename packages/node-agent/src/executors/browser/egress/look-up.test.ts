import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { createLookUp } from './look-up.ts';

const typeA = 1;
const typeAaaa = 28;
const addressOf = new Map([
  [typeA, Buffer.from([93, 184, 216, 34])],
  [typeAaaa, Buffer.from('26062800022000010248189325c81946', 'hex')],
]);

let server: Socket;
afterEach(async () => {
  server.close();
  await once(server, 'close');
});

/** Starts a name server that never answers queries of the type `dropped`. */
async function startServer(dropped: number) {
  const types: number[] = [];
  server = createSocket('udp4');
  server.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5;
    const type = query.readUInt16BE(end - 4);
    types.push(type);
    const address = addressOf.get(type);
    if (type === dropped || address === undefined) return;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 6);
    header.fill(0, 8, 12);
    const fixed = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length]);
    const parts = [header, query.subarray(12, end), fixed, address];
    server.send(Buffer.concat(parts), from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const lookUp = createLookUp([`127.0.0.1:${server.address().port}`]);
  return { lookUp, count: () => types.filter((type) => type === dropped).length };
}

test.each([
  ['AAAA', typeAaaa, '93.184.216.34'],
  ['A', typeA, '2606:2800:220:1:248:1893:25c8:1946'],
])('a dropped %s query delays no look-up', async (_what, dropped, address) => {
  const { lookUp, count } = await startServer(dropped);
  expect(await lookUp('jobs.example.com')).toEqual([address]);
  // The resolver asks again after `queryTimeoutMs`. The look-up has not waited that long.
  expect(count()).toBe(1);
});
