import { type ErrorCode, errorCodes, eventTypes } from '@svc/domain';
import { annotatedParameter } from './annotations/annotate.ts';
import { components, schemaJson } from './components.ts';
import {
  type AnswerDefinition,
  codesOf,
  type OperationDefinition,
  type OperationLink,
  type ParameterDefinition,
  templateOf,
} from './operation.ts';
import { creditOperations } from './operations-credits.ts';
import { keyOperations } from './operations-keys.ts';
import { purchaseOperations } from './operations-purchases.ts';
import { serviceOperations } from './operations-service.ts';
import { settingsOperations, webhookOperations } from './operations-settings.ts';
import { submissionOperations } from './operations-submissions.ts';
import { webhookEndpointOperations } from './operations-webhook-endpoints.ts';
import { codesByStatus, headerRefs, problemPage, problemResponse } from './problems.ts';
import { webhookObject } from './webhooks.ts';

/**
 * All endpoints that the document describes. A test of the gateway compares them with the endpoints
 * that the gateway serves.
 */
export const apiOperations: readonly OperationDefinition[] = [
  ...submissionOperations,
  ...creditOperations,
  ...purchaseOperations,
  ...settingsOperations,
  ...webhookOperations,
  ...keyOperations,
  ...webhookEndpointOperations,
  ...serviceOperations,
];

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
  readonly components: unknown;
}

/**
 * Makes the OpenAPI 3.1 document of the tenant API (decision 11). It is plain JSON and the same in
 * every environment.
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
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    tags: tags.filter(({ name }) => used.has(name)),
    paths,
    webhooks: Object.fromEntries(eventTypes.map((type) => [type, webhookObject(type)])),
    components: components(),
  };
}

const info = {
  title: 'Submission service',
  version: '1',
  license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
  description:
    'The service runs each job at most once, on one node. You pay with prepaid credits, and signed webhooks report the results. Sign every request under `/v1`. `X-SVC-Key` names the key (`key_…`) that signs; without this header, the service tries the first keys of the tenant (those from its creation and from rotations). v1 changes only by additions: new optional members, endpoints, events and error codes may appear. Ignore members and events that you do not know, and handle an unknown error code by its status. Credits are JSON numbers with at most six decimals. Times in responses and events are RFC 3339 in UTC with milliseconds. An error is an `application/problem+json` document (RFC 9457). Its `code` is stable, and its `type` links to its description. The responses for unknown routes (`404`) and methods (`405`) are in the `components` of `/openapi.json`.',
};

const tags = [
  { name: 'Submissions', description: 'Quote, create, read and cancel submissions.' },
  { name: 'Credits', description: 'Read the balance, the prices and the statement.' },
  { name: 'Settings', description: 'Read and change the settings of the tenant.' },
  {
    name: 'Webhooks',
    description: 'Manage endpoints, read events and deliveries, and send deliveries again.',
  },
  {
    name: 'Keys',
    description: 'Create, list and delete keys. List the changes to settings, endpoints and keys.',
  },
  { name: 'Purchases', description: 'Add credits.' },
  { name: 'Service', description: 'Check readiness, read the documentation and sign up.' },
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
            required: request.isOptional !== true,
            content: Object.fromEntries(
              ['application/json', ...(request.mediaTypes ?? [])].map((mediaType) => [
                mediaType,
                {
                  schema: schemaJson(request.schema, 'request', operation.operationId),
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
  return {
    name,
    in: 'path',
    required: true,
    description,
    schema: schemaJson(schema, 'request', ''),
    example,
  };
}

function queryParameters(query: OperationDefinition['query']): object[] {
  const required: readonly string[] = query?.required ?? [];
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...annotatedParameter(name, JSON.parse(JSON.stringify(schema))),
  }));
}

function examplesObject(values: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}

/** If an answer and problems have the same status, only the answer is described. */
function responsesObject(operation: OperationDefinition): object {
  const responses: Record<string, { content?: object }> = {};
  for (const [status, answer] of Object.entries(operation.answers)) {
    responses[status] = answerObject(answer, operation);
  }
  for (const [status, codes] of codesByStatus(codesOf(operation))) {
    const isPage = operation.request?.problemPages?.includes(status) === true;
    responses[status] ??= isPage ? problemPage(status, codes) : problemRef(status, codes);
  }
  return responses;
}

const rateHeaders = ['RateLimit-Policy', 'RateLimit'];

function problemRef(status: number, codes: readonly ErrorCode[]): object {
  const all = codesByStatus(errorCodes).get(status) ?? [];
  return all.length === codes.length
    ? { $ref: `#/components/responses/Problem${status}` }
    : problemResponse(status, codes);
}

function answerObject(answer: AnswerDefinition, operation: OperationDefinition): object {
  const { description, schema, example, texts = [], links } = answer;
  const { access, operationId } = operation;
  const content = {
    ...(schema === undefined
      ? {}
      : {
          'application/json': {
            schema: schemaJson(schema, 'response', operationId),
            ...(example === undefined ? {} : { example }),
          },
        }),
    ...Object.fromEntries(texts.map((mediaType) => [mediaType, { schema: {} }])),
  };
  return {
    description,
    headers: headerRefs(access === 'tenant' ? rateHeaders : []),
    content,
    ...(links === undefined ? {} : { links: linksObject(links) }),
  };
}

function linksObject(links: Readonly<Record<string, OperationLink>>): object {
  return Object.fromEntries(
    Object.entries(links).map(([name, { operationId, parameter, from, description }]) => [
      name,
      {
        operationId,
        parameters: { [parameter]: `$response.body#${from}` },
        description,
      },
    ]),
  );
}
