import * as examples from './examples.ts';

export const endpointMembers: Readonly<
  Record<string, readonly [description: string, example: unknown]>
> = {
  endpointId: ['The webhook endpoint. Null for the URL of the settings.', null],
  'WebhookEndpoint.id': ['The id of the endpoint.', examples.webhookEndpoint.id],
  'WebhookEndpointCreated.id': ['The id of the endpoint.', examples.webhookEndpoint.id],
  kind: ['`push`: the service posts the events to `url`. `poll`: you read the events.', 'push'],
  url: ['The URL of the endpoint. Null if you read its events.', examples.webhookEndpoint.url],
  events: [
    'The types of events that the endpoint gets. Null means all types.',
    ['submission.completed'],
  ],
  description: ['A note for your records.', 'Accounting'],
  disabled: [
    'When and why deliveries to the URL were disabled. Null if they are enabled.',
    { at: '2026-03-02T09:46:12.004Z', reason: 'The endpoint answered 410.' },
  ],
  secret: [
    'The secret that verifies the webhooks of this endpoint. It is shown only once.',
    'whsec_c3ZjLXdlYmhvb2s=',
  ],
  overlapHours: ['The hours in which the previous secret signs too. Default: 24.', 24],
  'WebhookEndpointList.data': ['The endpoints, oldest first.', [examples.webhookEndpoint]],
  'PolledEvents.data': ['The events, oldest first.', []],
  'PolledEvents.nextCursor': [
    'Pass it as `after` to read later events. It is never null.',
    examples.cursor,
  ],
  'PolledEvent.data': ['The facts of the event.', examples.webhooks['submission.completed'].data],
  'settings.changed.by': ['Who made the change: a tenant key or an operator.', { keyId: null }],
  'settings.changed.at': ['The time of the change.', '2026-03-02T09:16:01.950Z'],
  what: ['The change, such as `settings.updated`.', 'endpoint.created'],
  keyId: ['The id of the signing key. Null if no key with an id signed.', null],
  operator: ['The id of the operator, or `local` for a program.', 'op_01jd5q0000f1x8m3t6w9b2z4vn'],
};
