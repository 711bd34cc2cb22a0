import { createSocket, type Socket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createResolver, type ResolveAll } from './resolve-names.ts';

let server: Socket;
let resolveAll: ResolveAll;

/** Starts a name server that gives the answers of `answerTo`. */
beforeEach(async () => {
  server = createSocket('udp4');
  server.on('message', (query, from) => {
    const answer = answerTo(query);
    if (answer !== undefined) server.send(answer, from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  resolveAll = createResolver([`127.0.0.1:${server.address().port}`]);
});
afterEach(async () => {
  server.close();
  await once(server, 'close');
});

const typeA = 1;

/**
 * A name with the prefix `silent` gets no answer, and a name with the prefix `none` does not exist.
 * Any other name has one IPv4 address and no IPv6 address.
 */
function answerTo(query: Buffer): Buffer | undefined {
  const first = query.subarray(13, 13 + (query[12] ?? 0)).toString();
  if (first.startsWith('silent')) return undefined;
  const end = query.indexOf(0, 12) + 5;
  const isA = query.readUInt16BE(end - 4) === typeA;
  const isThere = !first.startsWith('none') && isA;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(first.startsWith('none') ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(isThere ? 1 : 0, 6);
  header.fill(0, 8, 12);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 93, 184, 216, 34]);
  return Buffer.concat([header, query.subarray(12, end), ...(isThere ? [record] : [])]);
}

function lookUp(hostname: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    resolveAll(hostname, {}, (error, addresses) =>
      error === null ? resolve(addresses) : reject(error),
    );
  });
}

test('a name is resolved to its addresses', async () => {
  expect(await lookUp('hooks.example.com')).toEqual([{ address: '93.184.216.34', family: 4 }]);
});

test('an unknown name is an error', async () => {
  await expect(lookUp('none.example.com')).rejects.toThrow('ENOTFOUND');
});

test('names with unresponsive servers delay no other look-up', async () => {
  let silent = 0;
  for (let n = 0; n < 64; n += 1) {
    resolveAll(`silent${n}.example.com`, {}, () => void (silent += 1));
  }
  await lookUp('hooks.example.com');
  expect(silent).toBe(0);
});
