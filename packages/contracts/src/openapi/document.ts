import { errorCodes, eventTypes } from '@svc/domain';
import { webhookEvents } from '../webhook-events.ts';
import { components, schemaJson, withPayloads } from './components.ts';
import * as examples from './examples.ts';
import {
  type AnswerDefinition,
  codesOf,
  type OperationDefinition,
  type ParameterDefinition,
  templateOf,
} from './operation.ts';
import { creditOperations } from './operations-credits.ts';
import { purchaseOperations } from './operations-purchases.ts';
import { serviceOperations } from './operations-service.ts';
import { settingsOperations, webhookOperations } from './operations-settings.ts';
import { submissionOperations } from './operations-submissions.ts';
import { codesByStatus, headerRefs, problemResponse } from './problems.ts';

/** Every endpoint that is described; the gateway's test compares them with those it serves. */
export const apiOperations: readonly OperationDefinition[] = [
  ...submissionOperations,
  ...creditOperations,
  ...purchaseOperations,
  ...settingsOperations,
  ...webhookOperations,
  ...serviceOperations,
];

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
  readonly components: unknown;
}

/**
 * The OpenAPI 3.1 document of the tenant API, from the schemas that validate, the catalogue of
 * errors and the events (CONTRACT 5). It is plain JSON, the same for every environment.
 */
export function openApiDocument(
  operations: readonly OperationDefinition[] = apiOperations,
): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const path = (paths[templateOf(operation.path)] ??= {});
    path[operation.method] = operationObject(operation);
  }
  const used = new Set(operations.map(({ tag }) => tag));
  return {
    openapi: '3.1.1',
    info,
    tags: tags.filter(({ name }) => used.has(name)),
    paths,
    webhooks: Object.fromEntries(eventTypes.map((type) => [type, webhookObject(type)])),
    components: components(),
  };
}

const info = {
  title: 'Submission service',
  version: '1',
  description:
    'Typed jobs, paid in prepaid credits, run at most once on a node, reported by signed webhooks. Everything under `/v1` is signed. v1 is frozen but for additions: new optional members, endpoints, events and error codes may appear, so ignore what you do not know. Credits are JSON numbers with at most six decimals; times are RFC 3339 in UTC with milliseconds. An error is an `application/problem+json` document (RFC 9457) whose `code` is stable and whose `type` points to its description. What an unknown route (`404`) or method (`405`) is answered is among the responses of the components.',
};

const tags = [
  { name: 'Submissions', description: 'Create, follow and cancel jobs.' },
  { name: 'Credits', description: 'What there is, what it costs, and where it went.' },
  { name: 'Settings', description: 'What a tenant sets for itself.' },
  { name: 'Webhooks', description: 'What was sent to the webhook URL, and sending it again.' },
  { name: 'Purchases', description: 'How credits come in.' },
  { name: 'Service', description: 'Readiness, this document and signing up.' },
];

function operationObject(operation: OperationDefinition): object {
  const { request } = operation;
  const parameters = [
    ...Object.entries(operation.pathParameters ?? {}).map(pathParameter),
    ...queryParameters(operation.query),
  ];
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    security: securityOf(operation.access),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: Object.fromEntries(
              ['application/json', ...(request.mediaTypes ?? [])].map((mediaType) => [
                mediaType,
                {
                  schema: withPayloads(request.schema),
                  examples: examplesObject(request.examples),
                },
              ]),
            ),
          },
        }),
    responses: responsesObject(operation),
  };
}

function securityOf(access: OperationDefinition['access']): object[] {
  return access === 'open' ? [] : [{ [access]: [], timestamp: [], signature: [] }];
}

function pathParameter([name, parameter]: [string, ParameterDefinition]): object {
  const { schema, description, example } = parameter;
  return { name, in: 'path', required: true, description, schema: schemaJson(schema), example };
}

function queryParameters(query: OperationDefinition['query']): object[] {
  const required: readonly string[] = query?.required ?? [];
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: schemaJson(schema),
  }));
}

function examplesObject(values: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}

/** A status that problems and a proper answer share (`/ready`, 503) has both media types. */
function responsesObject(operation: OperationDefinition): object {
  const responses: Record<string, { content?: object }> = {};
  for (const [status, answer] of Object.entries(operation.answers)) {
    responses[status] = answerObject(answer, operation.access);
  }
  for (const [status, codes] of codesByStatus(codesOf(operation))) {
    responses[status] ??= problemRef(status, codes);
  }
  return responses;
}

const rateHeaders = ['RateLimit-Policy', 'RateLimit'];

/** By name where the codes are all that the status has, else written out. */
function problemRef(status: number, codes: readonly (typeof errorCodes)[number][]): object {
  const all = codesByStatus(errorCodes).get(status) ?? [];
  return all.length === codes.length
    ? { $ref: `#/components/responses/Problem${status}` }
    : problemResponse(status, codes);
}

function answerObject(answer: AnswerDefinition, access: OperationDefinition['access']): object {
  const { description, schema, example, texts = [] } = answer;
  const content = {
    ...(schema === undefined
      ? {}
      : {
          'application/json': {
            schema: schemaJson(schema),
            ...(example === undefined ? {} : { example }),
          },
        }),
    ...Object.fromEntries(texts.map((mediaType) => [mediaType, { schema: {} }])),
  };
  return { description, headers: headerRefs(access === 'tenant' ? rateHeaders : []), content };
}

function webhookObject(type: keyof typeof webhookEvents): object {
  return {
    post: {
      operationId: `on.${type}`,
      tags: ['Webhooks'],
      summary: webhookSummaries[type],
      description:
        'Signed as Standard Webhooks v1 says (`webhook-id`, `webhook-timestamp`, `webhook-signature`). Delivered at least once and in no order: deduplicate on `X-SVC-Delivery`, and answer with a 2xx within 15 s.',
      parameters: webhookHeaders,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: schemaJson(webhookEvents[type]),
            example: examples.webhooks[type],
          },
        },
      },
      responses: { '2XX': { description: 'Received; it is not sent again.' } },
    },
  };
}

const webhookSummaries: Readonly<Record<keyof typeof webhookEvents, string>> = {
  'submission.completed': 'A submission was completed and settled',
  'submission.failed': 'A submission failed; its hold is back',
  'submission.cancelled': 'A submission was cancelled',
  'submission.late_outcome': 'A node reported an outcome for a submission that had ended otherwise',
  'credits.low_balance': 'The balance fell below its threshold',
  'webhook.test': 'A test that the tenant asked for',
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
    'The delivery, the same for every attempt and for a redelivery; equal to `webhook-id`.',
    'dlv_01jd5r0w6mfqsbx41c7thp2n8e',
  ),
  webhookHeader('X-SVC-Attempt', 'The number of the attempt, from 1.', '1'),
  webhookHeader('webhook-id', 'The delivery.', 'dlv_01jd5r0w6mfqsbx41c7thp2n8e'),
  webhookHeader('webhook-timestamp', 'Unix seconds of this attempt.', '1772442962'),
  webhookHeader(
    'webhook-signature',
    '`v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` under the webhook secret; two, separated by a space, while a rotation overlaps.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];
