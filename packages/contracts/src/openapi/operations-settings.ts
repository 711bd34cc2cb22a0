import { WireId } from '../api/common.ts';
import { DeliveriesQuery, Delivery, DeliveryPage, DeliveryQueued } from '../api/deliveries.ts';
import { Settings, SettingsChange } from '../api/settings.ts';
import * as examples from './annotations/examples.ts';
import type { OperationDefinition } from './operation.ts';

const id = {
  schema: WireId('dlv'),
  description: 'The id of the delivery, as in `X-SVC-Delivery`.',
  example: examples.deliveryId,
};

const queued = {
  description: 'Queued.',
  schema: DeliveryQueued,
  example: { deliveryId: examples.deliveryId },
  links: {
    read: {
      operationId: 'getDelivery',
      parameter: 'id',
      from: '/deliveryId',
      description: 'Read the delivery.',
    },
  },
};

const settings = {
  description: 'All settings.',
  schema: Settings,
  example: examples.settings,
};

export const settingsOperations: readonly OperationDefinition[] = [
  {
    operationId: 'getSettings',
    method: 'get',
    path: '/v1/settings',
    tag: 'Settings',
    summary: 'Read the settings',
    description: 'The settings of the tenant that signs the request.',
    access: 'tenant',
    answers: { 200: settings },
    errors: [],
  },
  {
    operationId: 'changeSettings',
    method: 'patch',
    path: '/v1/settings',
    tag: 'Settings',
    summary: 'Change the settings',
    description:
      'Omitted members stay unchanged. Setting `webhookUrl` enables a disabled URL again. A `webhookUrl` of `null` clears the URL and drops its pending deliveries.',
    access: 'tenant',
    request: {
      schema: SettingsChange,
      examples: {
        url: { webhookUrl: 'https://hooks.example.com/submissions' },
        threshold: { lowBalanceThreshold: 2500 },
      },
    },
    answers: { 200: settings },
    errors: ['unsupported_media_type'],
  },
];

export const webhookOperations: readonly OperationDefinition[] = [
  {
    operationId: 'testWebhook',
    method: 'post',
    path: '/v1/webhooks/test',
    tag: 'Webhooks',
    summary: 'Send a test event',
    description:
      'The test event goes to the `webhookUrl` of the settings. It is delivered and retried like a real event. You can send at most one test event per minute.',
    access: 'tenant',
    answers: { 202: queued },
    errors: ['webhook_url_missing'],
  },
  {
    operationId: 'listDeliveries',
    method: 'get',
    path: '/v1/webhooks/deliveries',
    tag: 'Webhooks',
    summary: 'List deliveries',
    description: 'The deliveries, newest first, each with the attempts of its current round.',
    access: 'tenant',
    query: DeliveriesQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: DeliveryPage,
        example: { data: [examples.delivery], nextCursor: null },
      },
    },
    errors: [],
  },
  {
    operationId: 'getDelivery',
    method: 'get',
    path: '/v1/webhooks/deliveries/:id',
    tag: 'Webhooks',
    summary: 'Read a delivery',
    description: 'One delivery with the attempts of its current round.',
    access: 'tenant',
    pathParameters: { id },
    answers: {
      200: { description: 'The delivery.', schema: Delivery, example: examples.delivery },
    },
    errors: ['not_found'],
  },
  {
    operationId: 'redeliver',
    method: 'post',
    path: '/v1/webhooks/deliveries/:id/redeliver',
    tag: 'Webhooks',
    summary: 'Send a delivery again',
    description:
      'A new round of attempts starts now with the same `X-SVC-Delivery`, also if the delivery is still pending. If the delivery belongs to an endpoint whose `url` is `null`, nothing is sent, but you can read the event again. A request body is ignored.',
    access: 'tenant',
    pathParameters: { id },
    answers: { 202: queued },
    errors: ['not_found', 'webhook_url_missing', 'delivery_in_progress'],
  },
];
