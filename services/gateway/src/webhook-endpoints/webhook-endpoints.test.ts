import {
  Delivery,
  DeliveryQueued,
  PolledEvents,
  RotatedSecret,
  WebhookEndpoint,
  WebhookEndpointCreated,
  WebhookEndpointList,
} from '@svc/contracts';
import { fromWireId } from '@svc/domain';
import { queueEndpointTest } from '@svc/store';
import { expect, test } from 'vitest';
import { bodyOf, refusalOf } from '../answers.fixture.ts';
import { type TestTenant, useGateways } from '../gateway.fixture.ts';

const gateways = await useGateways();

const path = '/v1/webhook-endpoints';
const url = 'https://hooks.example.com/endpoint?token=secret';

const create = (tenant: TestTenant, body: object | string = { url }) =>
  tenant.send({ method: 'POST', target: path, body });

async function created(tenant: TestTenant, body: object = { url }) {
  const answer = await create(tenant, body);
  expect(answer.status).toBe(201);
  return bodyOf(answer, WebhookEndpointCreated);
}

const at = (tenant: TestTenant, method: string, target: string, body?: object) =>
  tenant.send({ method, target: `${path}/${target}`, ...(body === undefined ? {} : { body }) });

async function events(tenant: TestTenant, id: string, query = '') {
  const answer = await at(tenant, 'GET', `${id}/events${query}`);
  expect(answer.status).toBe(200);
  return bodyOf(answer, PolledEvents);
}

test('an endpoint is created with its secret, listed, changed and deleted', async () => {
  const tenant = await gateways.tenant();
  const { secret, ...endpoint } = await created(tenant, {
    url,
    events: ['submission.completed'],
    description: 'Accounting',
  });
  expect(secret).toMatch(/^whsec_/);
  expect(endpoint).toMatchObject({ kind: 'push', url, disabled: null });
  const list = await tenant.send({ target: path });
  expect(bodyOf(list, WebhookEndpointList)).toEqual({ data: [endpoint] });
  expect(list.text).not.toContain('whsec_');
  const changed = await at(tenant, 'PATCH', endpoint.id, { events: null, description: null });
  const after = bodyOf(changed, WebhookEndpoint);
  expect(after).toEqual({ ...endpoint, events: null, description: null });
  expect(bodyOf(await at(tenant, 'GET', endpoint.id), WebhookEndpoint)).toEqual(after);
  const deleted = await at(tenant, 'DELETE', endpoint.id);
  expect([deleted.status, deleted.text]).toEqual([204, '']);
  expect(refusalOf(await at(tenant, 'GET', endpoint.id))).toBe('404 not_found');
  expect(refusalOf(await at(tenant, 'DELETE', endpoint.id))).toBe('404 not_found');
});

test('a sixth endpoint is refused until one is deleted', async () => {
  const tenant = await gateways.tenant();
  const { id } = await created(tenant);
  for (let count = 1; count < 5; count += 1) await created(tenant, { url: null });
  expect(refusalOf(await create(tenant))).toBe('409 endpoint_limit');
  await at(tenant, 'DELETE', id);
  await created(tenant);
});

test.each<[object | string, string]>([
  [{}, '/url'],
  [{ url: 7 }, '/url'],
  [{ url: '' }, '/url'],
  [{ url: 'http://hooks.example.com/' }, '/url'],
  [{ url: 'https://127.0.0.1/' }, '/url'],
  [{ url: 'https://user:pass@hooks.example.com/' }, '/url'],
  [{ url: `https://hooks.example.com/${'x'.repeat(2048)}` }, '/url'],
  [{ url, events: [] }, '/events'],
  [{ url, events: ['credits.*'] }, '/events/0'],
  [{ url, events: ['webhook.test', 'webhook.test'] }, '/events'],
  [{ url, description: 'x'.repeat(257) }, '/description'],
  [{ url, secret: 'whsec_MQ==' }, '/secret'],
])('%j is refused', async (body, pointer) => {
  const tenant = await gateways.tenant();
  expect(refusalOf(await create(tenant, body))).toContain(`422 validation_error ${pointer}`);
  const { id } = await created(tenant, { url: null });
  expect(refusalOf(await at(tenant, 'PATCH', id, { url }))).toBe('422 validation_error /url');
});

test('a secret is rotated, with and without a body', async () => {
  const tenant = await gateways.tenant();
  const { id, secret } = await created(tenant);
  const rotate = (body?: object) => at(tenant, 'POST', `${id}/rotate-secret`, body);
  const next = bodyOf(await rotate(), RotatedSecret).secret;
  const last = bodyOf(await rotate({ overlapHours: 0 }), RotatedSecret).secret;
  expect(new Set([secret, next, last]).size).toBe(3);
  expect(refusalOf(await rotate({ overlapHours: 169 }))).toBe('422 validation_error /overlapHours');
  expect(refusalOf(await rotate({ overlapHours: -1 }))).toBe('422 validation_error /overlapHours');
});

test('a test event shows the endpoint in the record of its delivery', async () => {
  const tenant = await gateways.tenant();
  const { id } = await created(tenant);
  const { deliveryId } = bodyOf(await at(tenant, 'POST', `${id}/test`), DeliveryQueued);
  const read = await tenant.send({ target: `/v1/webhooks/deliveries/${deliveryId}` });
  expect(bodyOf(read, Delivery)).toMatchObject({ endpointId: id, type: 'webhook.test' });
  expect(refusalOf(await at(tenant, 'POST', `${id}/test`))).toBe('429 rate_limited');
});

test('events are read oldest first, and the cursor continues behind them', async () => {
  const tenant = await gateways.tenant();
  const { id } = await created(tenant, { url: null });
  expect(await events(tenant, id)).toMatchObject({ data: [] });
  const { deliveryId } = bodyOf(await at(tenant, 'POST', `${id}/test`), DeliveryQueued);
  await tenant.send({ method: 'PATCH', target: '/v1/settings', body: { lowBalanceThreshold: 5 } });
  const first = await events(tenant, id, '?limit=1');
  expect(first.data).toMatchObject([{ type: 'webhook.test', data: {}, deliveryId }]);
  const second = await events(tenant, id, `?after=${first.nextCursor}`);
  expect(second.data).toMatchObject([
    {
      type: 'settings.changed',
      data: { what: 'settings.updated', by: { keyId: expect.stringMatching(/^key_/) } },
    },
  ]);
  const end = await events(tenant, id, `?after=${second.nextCursor}`);
  expect(end).toEqual({ data: [], nextCursor: second.nextCursor });
  const other = await created(tenant, { url: null });
  const foreign = await at(tenant, 'GET', `${other.id}/events?after=${end.nextCursor}`);
  expect(refusalOf(foreign)).toContain('422 validation_error');
  const push = await created(tenant);
  expect(refusalOf(await at(tenant, 'GET', `${push.id}/events`))).toBe('404 not_found');
});

test('a waiting request is answered by the next event, and at once if there is one', async () => {
  const tenant = await gateways.tenant();
  const { id } = await created(tenant, { url: null });
  const waiting = [events(tenant, id, '?waitSeconds=30'), events(tenant, id, '?waitSeconds=30')];
  const endpointId = fromWireId('whe', id) ?? '';
  const asked = { tenantId: tenant.uuid, endpointId, requestId: 'r' };
  expect(await queueEndpointTest(gateways.store, asked)).toMatchObject({ kind: 'queued' });
  for (const { data } of [...(await Promise.all(waiting)), await events(tenant, id)]) {
    expect(data).toMatchObject([{ type: 'webhook.test' }]);
  }
});
