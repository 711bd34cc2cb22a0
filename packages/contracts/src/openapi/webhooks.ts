import { webhookEvents } from '../webhook-events.ts';
import * as examples from './annotations/examples.ts';
import { schemaJson } from './components.ts';

/** Describes the webhook of an event, as a path item of the document. */
export function webhookObject(type: keyof typeof webhookEvents): object {
  return {
    post: {
      operationId: `on.${type}`,
      tags: ['Webhooks'],
      // The list is empty, because the security schemes are for requests to the API. A webhook is
      // authenticated by its signature instead. The signature is a header in `parameters`.
      security: [],
      summary: webhookSummaries[type],
      description:
        'The service signs the request as Standard Webhooks v1 describes (`webhook-id`, `webhook-timestamp`, `webhook-signature`). Events are delivered at least once and in any order. Deduplicate by `X-SVC-Delivery`, and answer with a 2xx within 15 s.',
      parameters: webhookHeaders,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: schemaJson(webhookEvents[type], 'response', type),
            example: examples.webhooks[type],
          },
        },
      },
      responses: {
        '2XX': { description: 'The event was received. The delivery ends.' },
        '410': { description: 'The service disables your URL until you set it again.' },
        default: { description: 'The event is sent again: at most 8 attempts in about 8 hours.' },
      },
    },
  };
}

const webhookSummaries: Readonly<Record<keyof typeof webhookEvents, string>> = {
  'submission.completed': 'A submission was completed and settled',
  'submission.failed': 'A submission failed and its hold was released',
  'submission.cancelled': 'A submission was cancelled',
  'submission.late_outcome':
    'A node reported an outcome of a submission that had already ended in another way',
  'credits.low_balance': 'The balance is below its threshold',
  'credits.purchased': 'A purchase intent was paid and its credits were granted',
  'settings.changed': 'The settings, endpoints, keys or secrets of the tenant were changed',
  'webhook.test': 'The tenant requested a test event',
};

const webhookHeader = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
});

const webhookHeaders = [
  webhookHeader(
    'X-SVC-Delivery',
    'The id of the delivery. It is the same for every attempt and redelivery, and equal to `webhook-id`.',
    'dlv_01jd5r0w6mfqsbx41c7thp2n8e',
  ),
  webhookHeader(
    'X-SVC-Attempt',
    'The number of the attempt, starting at 1. It starts at 1 again when a new round begins.',
    '1',
  ),
  webhookHeader('webhook-id', 'The id of the delivery.', 'dlv_01jd5r0w6mfqsbx41c7thp2n8e'),
  webhookHeader('webhook-timestamp', 'The time of this attempt in Unix seconds.', '1772442962'),
  webhookHeader(
    'webhook-signature',
    '`v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. The key is the base64-decoded part of the webhook secret after `whsec_`. During the overlap of a rotation, there are two signatures, separated by a space.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];
