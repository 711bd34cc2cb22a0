import { linkRequest, openLinkSocket } from '@svc/testkit';
import { expect, test } from 'vitest';
import { useDispatching } from '../dispatcher.fixture.ts';

const service = await useDispatching({ refusedUpgrades: { perSecond: 0.001, burst: 3 } });
const unlimited = await useDispatching();
const credentials = await service.newNode();
const link = service.links[0] ?? '';

async function refuse(): Promise<Response> {
  const url = linkRequest({ link, ...credentials }).url.replace('ws:', 'http:');
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

test('an upgrade that cannot be decided gets 503', async () => {
  const stranger = linkRequest({ link: unlimited.links[0] ?? '', ...(await unlimited.newNode()) });
  await unlimited.database.query('ALTER TABLE nodes RENAME TO nodes_away');
  const refused = openLinkSocket(stranger);
  await expect(refused).rejects.toMatchObject({ status: 503 });
  await unlimited.database.query('ALTER TABLE nodes_away RENAME TO nodes');
});
