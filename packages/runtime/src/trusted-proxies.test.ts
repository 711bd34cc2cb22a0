import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noTrustedProxies, parseTrustedProxies, type TrustedProxies } from './trusted-proxies.ts';

const server = createServer();
let port: number;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => server.close());

/** Sends a request over plain HTTP from 127.0.0.1, and returns it as the server received it. */
async function received(headers: Record<string, string | string[]>): Promise<IncomingMessage> {
  const arrived = once(server, 'request');
  const outgoing = httpRequest({ port, host: '127.0.0.1', headers });
  outgoing.end();
  const [incoming, response] = await arrived;
  response.end();
  await once(outgoing, 'response');
  return incoming;
}

function proxies(text: string): TrustedProxies {
  const parsed = parseTrustedProxies(text);
  if (parsed === undefined) throw new Error('not a list of proxies');
  return parsed;
}

describe('TLS', () => {
  test.each([
    ['loopback', { 'x-forwarded-proto': 'https' }, true],
    ['loopback', { 'x-forwarded-proto': 'HTTPS' }, true],
    ['127.0.0.0/8', { 'x-forwarded-proto': 'http' }, false],
    ['loopback', {}, false],
    ['loopback', { 'x-forwarded-proto': '' }, false],
    // The header contains the value of the client, then the value that the proxy added.
    ['loopback', { 'x-forwarded-proto': 'https, http' }, false],
    ['loopback', { 'x-forwarded-proto': ['https', 'http'] }, false],
    ['loopback', { 'x-forwarded-proto': 'https,https' }, true],
    ['10.0.0.0/8', { 'x-forwarded-proto': 'https' }, false],
  ])('of a request through %s with %o: %s', async (trusted, headers, isTls) => {
    expect(proxies(trusted).cameOverTls(await received(headers))).toBe(isTls);
  });

  test('is not trusted from any peer without a trusted proxy', async () => {
    expect(noTrustedProxies.cameOverTls(await received({ 'x-forwarded-proto': 'https' }))).toBe(
      false,
    );
  });
});

describe('the address of a client', () => {
  test.each([
    ['loopback', '192.0.2.7', '192.0.2.7'],
    ['loopback', '198.51.100.1, 192.0.2.7', '192.0.2.7'],
    ['loopback,192.0.2.0/24', '198.51.100.1, 192.0.2.7', '198.51.100.1'],
    ['loopback', '::ffff:192.0.2.7', '192.0.2.7'],
    ['loopback', '::ffff:c000:207', '192.0.2.7'],
    ['loopback', '', '127.0.0.1'],
    ['10.0.0.0/8', '192.0.2.7', '127.0.0.1'],
    ['loopback', '203.0.112.7:50123', '203.0.112.7'],
    ['loopback', '203.0.112.7:50124', '203.0.112.7'],
    ['loopback', '[2001:db8::1]:443', '2001:db8::1'],
    ['loopback', '[2001:DB8:0::1]', '2001:db8::1'],
    ['loopback', '[::ffff:192.0.2.7]:1', '192.0.2.7'],
    ['loopback', '198.51.100.1:1, 127.0.0.2:80', '198.51.100.1'],
    ['loopback', 'unknown', '127.0.0.1'],
    ['loopback', '_hidden:80', '127.0.0.1'],
    ['loopback', '192.0.2.7:', '127.0.0.1'],
    ['loopback', '192.0.2.7:x', '127.0.0.1'],
    ['loopback', '192.0.2.700:80', '127.0.0.1'],
    ['loopback', '[192.0.2.7]:80', '127.0.0.1'],
    ['loopback', '2001:db8::1]:443', '127.0.0.1'],
    ['loopback', '192.0.2.7,', '127.0.0.1'],
    ['loopback', '192.0.2.7, garbage, 127.0.0.2', '127.0.0.2'],
    ['loopback', Array.from({ length: 1_000 }, () => '::1').join(','), '::1'],
  ])('trusting %s, forwarded for "%s", is %s', async (trusted, forwarded, address) => {
    const request = await received({ 'x-forwarded-for': forwarded });
    expect(proxies(trusted).clientAddress(request)).toBe(address);
  });
});

test.each(['', 'everybody', '10.0.0.0/0', '10.0.0.1/33', '10.0.0.1/8/8', '10.0.0.1,'])(
  '"%s" is not a list of proxies',
  (text) => {
    expect(parseTrustedProxies(text)).toBeUndefined();
  },
);
