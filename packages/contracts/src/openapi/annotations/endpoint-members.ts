import * as examples from './examples.ts';

/** The descriptions and examples of the members of webhook endpoints and of `settings.changed`. */
export const endpointMembers: Readonly<
  Record<string, readonly [description: string, example: unknown]>
> = {
  endpointId: ['The webhook endpoint. Null for the URL of the settings.', null],
  'WebhookEndpoint.id': ['The id of the endpoint.', examples.webhookEndpoint.id],
  'WebhookEndpointCreated.id': ['The id of the endpoint.', examples.webhookEndpoint.id],
  kind: ['`push`: events are posted to `url`. `poll`: you read them.', 'push'],
  url: ['The address of the endpoint. Null for one that you read.', examples.webhookEndpoint.url],
  events: ['The types of events that it gets. Null: all.', ['submission.completed']],
  description: ['A note for your records.', 'Accounting'],
  disabled: [
    'When and why deliveries to the URL were disabled. Null if they are not.',
    { at: '2026-03-02T09:46:12.004Z', reason: 'The endpoint answered 410.' },
  ],
  secret: [
    'Verifies the webhooks of this endpoint. It is shown only once.',
    'whsec_c3ZjLXdlYmhvb2s=',
  ],
  overlapHours: ['How long the previous secret signs too. Default: 24.', 24],
  'WebhookEndpointList.data': ['The endpoints, oldest first.', [examples.webhookEndpoint]],
  'PolledEvents.data': ['The events, oldest first.', []],
  'PolledEvents.nextCursor': ['Pass it as `after` to read on. It never is null.', examples.cursor],
  'PolledEvent.data': ['The facts of the event.', examples.webhooks['submission.completed'].data],
  'settings.changed.by': ['Who changed it: a key of the tenant, or an operator.', { keyId: null }],
  'settings.changed.at': ['The time of the change.', '2026-03-02T09:16:01.950Z'],
  what: ['The change, such as `settings.updated`.', 'endpoint.created'],
  keyId: ['The key that signed the request. Null if it has no id.', null],
  operator: ['The operator of the service.', 'op_01jd5q0000f1x8m3t6w9b2z4vn'],
};
