import { WireId } from '../api/common.ts';
import { DeliveryQueued } from '../api/deliveries.ts';
import {
  PolledEvents,
  PolledEventsQuery,
  RotatedSecret,
  SecretRotation,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointCreated,
  WebhookEndpointList,
  WebhookEndpointRequest,
} from '../api/webhook-endpoints.ts';
import * as examples from './annotations/examples.ts';
import type { OperationDefinition } from './operation.ts';

const { webhookEndpoint } = examples;
const secret = 'whsec_c3ZjLXdlYmhvb2s=';

const id = {
  schema: WireId('whe'),
  description: 'The id of the endpoint.',
  example: webhookEndpoint.id,
};

const tag = 'Webhooks';
const path = '/v1/webhook-endpoints';

const shown = {
  description: 'The endpoint.',
  schema: WebhookEndpoint,
  example: webhookEndpoint,
};

export const webhookEndpointOperations: readonly OperationDefinition[] = [
  {
    operationId: 'listWebhookEndpoints',
    method: 'get',
    path,
    tag,
    summary: 'List webhook endpoints',
    description:
      'All endpoints of the tenant, oldest first. The `webhookUrl` of the settings is not one of them.',
    access: 'tenant',
    answers: {
      200: {
        description: 'All endpoints.',
        schema: WebhookEndpointList,
        example: { data: [webhookEndpoint] },
      },
    },
    errors: [],
  },
  {
    operationId: 'createWebhookEndpoint',
    method: 'post',
    path,
    tag,
    summary: 'Create a webhook endpoint',
    description:
      'A tenant has at most five endpoints. Each endpoint gets its own delivery of every event in `events`. If `url` is `null`, you read the events yourself: the service keeps the newest 1,000 events, for 24 hours.',
    access: 'tenant',
    request: {
      schema: WebhookEndpointRequest,
      examples: {
        push: { url: webhookEndpoint.url, events: webhookEndpoint.events },
        poll: { url: null, description: 'My laptop' },
      },
    },
    answers: {
      201: {
        description: 'The endpoint with its secret.',
        schema: WebhookEndpointCreated,
        example: { ...webhookEndpoint, secret },
        links: {
          read: {
            operationId: 'getWebhookEndpoint',
            parameter: 'id',
            from: '/id',
            description: 'Read the endpoint.',
          },
        },
      },
    },
    errors: ['endpoint_limit', 'unsupported_media_type'],
  },
  {
    operationId: 'getWebhookEndpoint',
    method: 'get',
    path: `${path}/:id`,
    tag,
    summary: 'Read a webhook endpoint',
    description: 'One endpoint, without its secret.',
    access: 'tenant',
    pathParameters: { id },
    answers: { 200: shown },
    errors: ['not_found'],
  },
  {
    operationId: 'changeWebhookEndpoint',
    method: 'patch',
    path: `${path}/:id`,
    tag,
    summary: 'Change a webhook endpoint',
    description:
      'Omitted members stay unchanged. Setting `url` enables a disabled endpoint again. An endpoint keeps its kind, so you cannot change `url` from or to `null`.',
    access: 'tenant',
    pathParameters: { id },
    request: {
      schema: WebhookEndpointChange,
      examples: {
        url: { url: 'https://hooks.example.com/new' },
        all: { events: null },
      },
    },
    answers: { 200: shown },
    errors: ['not_found', 'unsupported_media_type'],
  },
  {
    operationId: 'deleteWebhookEndpoint',
    method: 'delete',
    path: `${path}/:id`,
    tag,
    summary: 'Delete a webhook endpoint',
    description: 'The pending deliveries of the endpoint are dropped. A request body is ignored.',
    access: 'tenant',
    pathParameters: { id },
    answers: { 204: { description: 'Deleted.' } },
    errors: ['not_found'],
  },
  {
    operationId: 'rotateWebhookEndpointSecret',
    method: 'post',
    path: `${path}/:id/rotate-secret`,
    tag,
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'For `overlapHours`, the previous secret signs too. At most two secrets sign at a time, so any older secret stops at once. The body may be empty.',
    access: 'tenant',
    pathParameters: { id },
    request: {
      schema: SecretRotation,
      isOptional: true,
      examples: { day: { overlapHours: 24 }, now: { overlapHours: 0 } },
    },
    answers: {
      200: { description: 'The new secret.', schema: RotatedSecret, example: { secret } },
    },
    errors: ['not_found', 'unsupported_media_type'],
  },
  {
    operationId: 'testWebhookEndpoint',
    method: 'post',
    path: `${path}/:id/test`,
    tag,
    summary: 'Send a test event to one endpoint',
    description:
      'The endpoint gets the event even if `events` does not list its type. You can test each endpoint once a minute. A request body is ignored.',
    access: 'tenant',
    pathParameters: { id },
    answers: {
      202: {
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
      },
    },
    errors: ['not_found', 'webhook_url_missing'],
  },
  {
    operationId: 'pollWebhookEvents',
    method: 'get',
    path: `${path}/:id/events`,
    tag,
    summary: 'Read the events of an endpoint without a URL',
    description:
      'The events, oldest first. Reading does not remove them. To read on, pass `nextCursor` as `after`. If there is no event, the service waits up to `waitSeconds` for one.',
    access: 'tenant',
    pathParameters: { id },
    query: PolledEventsQuery,
    answers: {
      200: {
        description: 'The events after the cursor.',
        schema: PolledEvents,
        example: {
          data: [{ ...examples.webhooks['submission.completed'], deliveryId: examples.deliveryId }],
          nextCursor: examples.cursor,
        },
      },
    },
    errors: ['not_found'],
  },
];
