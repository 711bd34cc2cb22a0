import { errorCodes } from '@svc/domain';
import type { TSchema } from 'typebox';
import { AuditEntry, AuditPage, ChangeAuthor } from '../api/audit.ts';
import { QuoteFigures, RefundFigures, UsageFigures } from '../api/common.ts';
import { Balance, Transaction, TransactionPage } from '../api/credits.ts';
import { Delivery, DeliveryAttempt, DeliveryPage, DeliveryQueued } from '../api/deliveries.ts';
import { Key, KeyCreated, KeyList, KeyRequest } from '../api/keys.ts';
import { Problem, ProblemError } from '../api/problem.ts';
import { PurchaseIntentRecord, PurchasePayment } from '../api/purchases.ts';
import { RateCardAnswer, RateFigures } from '../api/rate-card.ts';
import { NotReady, Ready } from '../api/ready.ts';
import { Settings, SettingsChange } from '../api/settings.ts';
import {
  CancelAnswer,
  QuoteAnswer,
  QuoteRequest,
  SubmissionCreated,
  SubmissionDetail,
  SubmissionFailure,
  SubmissionPage,
  SubmissionRequest,
} from '../api/submissions.ts';
import {
  PolledEvent,
  PolledEvents,
  RotatedSecret,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointCreated,
  WebhookEndpointList,
  WebhookEndpointRequest,
} from '../api/webhook-endpoints.ts';
import { findJobType, jobTypeNames } from '../job-types/catalogue.ts';
import { JobResult } from '../node-link.ts';
import { annotated } from './annotations/annotate.ts';
import { codesByStatus, problemResponse } from './problems.ts';

/**
 * The schemas with a name in the document. `components` adds the schemas of the payloads. Any other
 * schema is written inline.
 */
const named: Readonly<Record<string, TSchema>> = {
  Problem,
  ProblemError,
  Quote: QuoteFigures,
  Refund: RefundFigures,
  Usage: UsageFigures,
  Balance,
  RateCard: RateCardAnswer,
  Rate: RateFigures,
  Ready,
  NotReady,
  SubmissionRequest,
  SubmissionCreated,
  Submission: SubmissionDetail,
  SubmissionPage,
  SubmissionFailure,
  JobResult,
  CancelAnswer,
  QuoteRequest,
  QuoteAnswer,
  Transaction,
  TransactionPage,
  Delivery,
  DeliveryAttempt,
  DeliveryPage,
  DeliveryQueued,
  Settings,
  SettingsChange,
  WebhookEndpoint,
  WebhookEndpointCreated,
  WebhookEndpointList,
  WebhookEndpointRequest,
  WebhookEndpointChange,
  RotatedSecret,
  PolledEvent,
  PolledEvents,
  PurchaseIntent: PurchaseIntentRecord,
  PurchasePayment,
  Key,
  KeyList,
  KeyRequest,
  KeyCreated,
  ChangeAuthor,
  AuditEntry,
  AuditPage,
};

/** The names of the schemas of requests. The others in `named` describe answers or events. */
const requestNames = new Set([
  'SubmissionRequest',
  'QuoteRequest',
  'SettingsChange',
  'KeyRequest',
  'WebhookEndpointRequest',
  'WebhookEndpointChange',
]);

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const nameByText = new Map(
  Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]),
);

/**
 * Replaces each part that is a schema of `named` by a reference, and applies `annotated`. `name` is
 * an `operationId` or an event type, or empty for a path parameter.
 */
export function schemaJson(
  schema: TSchema,
  direction: 'request' | 'response',
  name: string,
): unknown {
  return annotated(withRefs(toJson(schema)), name, direction);
}

function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value));
}

function withRefs(value: Json, isRoot = false): Json {
  if (Array.isArray(value)) return value.map((item) => withRefs(item));
  if (typeof value !== 'object' || value === null) return value;
  const name = isRoot ? undefined : nameByText.get(JSON.stringify(value));
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [member, withRefs(inner)]),
  );
}

/** The name of a payload schema: `AtsApplicationPayload` for `ats.application`. */
function payloadName(jobType: string): string {
  const words = jobType.split(/[^A-Za-z0-9]+/);
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Payload`;
}

function withPayloads(body: Json): Json {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { properties } = body;
  if (typeof properties !== 'object' || properties === null || !('payload' in properties)) {
    return body;
  }
  const refs = jobTypeNames.map((jobType) => ({
    $ref: `#/components/schemas/${payloadName(jobType)}`,
  }));
  const [first, ...others] = refs;
  const payload: Json = others.length === 0 && first !== undefined ? first : { anyOf: refs };
  return { ...body, properties: { ...properties, payload } };
}

export function components(): object {
  const payloads = jobTypeNames.flatMap((jobType) => {
    const schema = findJobType(jobType)?.payloadSchema;
    return schema === undefined
      ? []
      : [
          [
            payloadName(jobType),
            annotated(toJson(schema), payloadName(jobType), 'request'),
          ] as const,
        ];
  });
  return {
    schemas: {
      ...Object.fromEntries(
        Object.entries(named).map(([name, schema]) => [
          name,
          annotated(
            withPayloads(withRefs(toJson(schema), true)),
            name,
            requestNames.has(name) ? 'request' : 'response',
          ),
        ]),
      ),
      ...Object.fromEntries(payloads),
    },
    responses: Object.fromEntries(
      [...codesByStatus(errorCodes)].map(([status, codes]) => [
        `Problem${status}`,
        problemResponse(status, codes),
      ]),
    ),
    headers,
    securitySchemes,
  };
}

const text = { type: 'string' };

const headers = {
  'x-request-id': {
    description:
      'The id of this request. Quote it when you contact support. An id that you send in this header is kept if it has 1 to 128 characters of `[A-Za-z0-9._-]`.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
    required: true,
  },
  'Retry-After': {
    description: 'The seconds to wait before you repeat the request.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    required: true,
  },
  'RateLimit-Policy': {
    description: 'The tenant may send `q` requests at once, and `q` again after `w` seconds.',
    schema: { type: 'string', pattern: '^"tenant";q=[0-9]+;w=[0-9]+$' },
    required: true,
  },
  RateLimit: {
    description:
      'The tenant may send `r` requests now. After `t` seconds without a request it may send `q` requests (`q` is in `RateLimit-Policy`).',
    schema: { type: 'string', pattern: '^"tenant";r=[0-9]+;t=[0-9]+$' },
    required: true,
  },
  'WWW-Authenticate': {
    description: 'The signature scheme of requests.',
    schema: { const: 'SVC1-HMAC-SHA256' },
    required: true,
  },
  Allow: {
    description: 'The methods of the route.',
    schema: text,
    required: true,
  },
};

const apiKey = (name: string, description: string) => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
});

const securitySchemes = {
  tenant: apiKey('X-SVC-Tenant', 'The id of the tenant (`tnt_…`).'),
  operator: apiKey(
    'X-SVC-Operator',
    'The operator id (`op_…`), if an operator signs instead of a tenant.',
  ),
  timestamp: apiKey(
    'X-SVC-Timestamp',
    'Unix time in seconds as decimal digits. It must be within 300 s of the clock of the service.',
  ),
  signature: apiKey(
    'X-SVC-Signature',
    '`v1=` and a lowercase hex HMAC-SHA256. The key is the whole secret string. The message is five lines joined by `\\n`: `SVC1-HMAC-SHA256`, the timestamp, the method, the request target exactly as sent, and the lowercase hex SHA-256 of the raw body (of zero bytes if there is no body). You may send up to four values, separated by commas; one match is enough.',
  ),
};
