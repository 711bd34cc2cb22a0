import * as examples from './examples.ts';

export const endpointMembers: Readonly<
  Record<string, readonly [description: string, example: unknown]>
> = {
  endpointId: [
    'The id of the webhook endpoint. Null for a delivery to the `webhookUrl` of the settings.',
    null,
  ],
  'WebhookEndpoint.id': ['The id of the endpoint.', examples.webhookEndpoint.id],
  'WebhookEndpointCreated.id': ['The id of the endpoint.', examples.webhookEndpoint.id],
  kind: ['`push`: the service posts the events to `url`. `poll`: you read the events.', 'push'],
  url: [
    'The URL of the endpoint. Null if the service posts nothing and you read the events yourself.',
    examples.webhookEndpoint.url,
  ],
  events: [
    'The types of events that the endpoint gets. Null means all types.',
    ['submission.completed'],
  ],
  description: ['A note for your records.', 'Accounting'],
  disabled: [
    'When and why deliveries to the URL were disabled. Null if they are enabled.',
    { at: '2026-03-02T09:46:12.004Z', reason: 'the endpoint answered 410 Gone' },
  ],
  secret: [
    'The secret that verifies the webhooks of this endpoint. It is shown only once.',
    'whsec_c3ZjLXdlYmhvb2s=',
  ],
  overlapHours: [
    'The number of hours for which the service also signs with the previous secret. Default: 24.',
    24,
  ],
  'WebhookEndpointList.data': ['The endpoints, oldest first.', [examples.webhookEndpoint]],
  'PolledEvents.data': ['The events, oldest first.', []],
  'PolledEvents.nextCursor': [
    'Pass it as `after` to read later events. It is never null.',
    examples.cursor,
  ],
  'PolledEvent.data': ['The facts of the event.', examples.webhooks['submission.completed'].data],
};
