import { connect } from 'node:net';
import { linkRequest, openLinkSocket } from '@svc/testkit';
import { expect, test } from 'vitest';
import { useDispatching } from '../dispatcher.fixture.ts';

const service = await useDispatching({ refusedUpgrades: { perSecond: 0.001, burst: 3 } });
const crowded = await useDispatching({ refusedUpgrades: { perSecond: 0.001, burst: 3 } });
const unlimited = await useDispatching();
const narrow = await useDispatching({ env: { ADDRESS_CONNECTIONS_MAX: '10' } });
const credentials = await service.newNode();
const link = service.links[0] ?? '';

const refuseAtOther = (): Promise<Response> => refuse(crowded.links[0]);

async function refuse(at = link): Promise<Response> {
  const url = linkRequest({ link: at, ...credentials }).url.replace('ws:', 'http:');
  return await fetch(url, { headers: { 'x-svc-node': 'nod_01kajh8z2wf5xav9c3q7m4n6rt' } });
}

test('an address with too many refused upgrades gets 429 without a query of Postgres', async () => {
  (await openLinkSocket(linkRequest({ link, ...credentials }))).terminate();
  for (let count = 0; count < 3; count += 1) expect((await refuse()).status).toBe(401);
  // Without the table `nodes`, an upgrade that queries Postgres would get 503.
  await service.database.query('ALTER TABLE nodes RENAME TO nodes_away');
  const limited = await refuse();
  await service.database.query('ALTER TABLE nodes_away RENAME TO nodes');
  expect(limited.status).toBe(429);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await limited.json()).toMatchObject({ code: 'rate_limited', status: 429 });
  // A node that has signed correctly from this address has its own limit.
  (await openLinkSocket(linkRequest({ link, ...credentials }))).terminate();
  const stranger = linkRequest({ link, ...(await service.newNode()) });
  await expect(openLinkSocket(stranger)).rejects.toMatchObject({ status: 429 });
});

test('forged upgrades that arrive at once are limited before Postgres is asked', async () => {
  const together = await Promise.all(Array.from({ length: 40 }, refuseAtOther));
  const statuses = together.map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(3);
  expect(statuses.filter((status) => status === 429)).toHaveLength(37);
});

test('an upgrade that cannot be decided gets 503', async () => {
  const stranger = linkRequest({ link: unlimited.links[0] ?? '', ...(await unlimited.newNode()) });
  await unlimited.database.query('ALTER TABLE nodes RENAME TO nodes_away');
  const refused = openLinkSocket(stranger);
  await expect(refused).rejects.toMatchObject({ status: 503 });
  await unlimited.database.query('ALTER TABLE nodes_away RENAME TO nodes');
});

test('a request has the limits of headers and time that requests of tenants have, and an address those of connections', async () => {
  const { port } = new URL(narrow.links[0] ?? '');
  const open = (text: string) => {
    const socket = connect(Number(port), '127.0.0.1');
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('utf8')));
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write(text);
    return { closed, received: () => received };
  };
  const large = open(`GET /node/v1 HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(17_000)}\r\n\r\n`);
  await large.closed;
  expect(large.received()).toMatch(/^HTTP\/1.1 431 [^]*"code":"headers_too_large"/);
  const unfinished = 'GET /node/v1 HTTP/1.1\r\nhost: x\r\n';
  const waiting = Array.from({ length: 11 }, () => open(unfinished));
  await Promise.race(waiting.map(({ closed }) => closed));
  expect(waiting.filter(({ received }) => received() === '')).toHaveLength(11);
  await Promise.all(waiting.map(({ closed }) => closed));
  const timedOut = waiting.filter(({ received }) => /^HTTP\/1.1 408 /.test(received()));
  expect(timedOut).toHaveLength(10);
}, 30_000);
