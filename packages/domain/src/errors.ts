export interface ErrorDefinition {
  readonly status: number;
  readonly title: string;
  readonly description: string;
}

/** Every code of CONTRACT 2. */
export const errorCatalogue = {
  bad_request: {
    status: 400,
    title: 'Bad request',
    description:
      'The HTTP request is malformed, has no Host header, or has bad percent-encoding in its path.',
  },
  unauthenticated: {
    status: 401,
    title: 'Unauthenticated',
    description:
      'A signature header is missing or malformed, the timestamp differs from the clock of the service by more than five minutes, or no usable key made the signature. A usable key is neither deleted nor expired, allows the address of the client, and belongs to a tenant or operator that is not disabled.',
  },
  insufficient_credits: {
    status: 402,
    title: 'Insufficient credits',
    description:
      'The available credits do not cover the maximum price of the quote, which is in `required`. Nothing is held, and you can use the idempotency key again.',
  },
  job_type_not_allowed: {
    status: 403,
    title: 'Job type not allowed',
    description: 'The job type exists, but this tenant may not use it.',
  },
  operator_only: {
    status: 403,
    title: 'Operator only',
    description: 'Only an operator key may call this endpoint.',
  },
  scope_missing: {
    status: 403,
    title: 'Scope missing',
    description:
      'The key that signed the request does not have the scope that the request needs. Use another key.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    description:
      'The route or resource does not exist, or it belongs to another tenant. The answer is the same in each case.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    description: 'The route exists, but not with this method. `Allow` lists its methods.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    description:
      'The headers did not arrive within 10 seconds, or the whole request within 30 seconds, or the body came slower than 8 KiB per second.',
  },
  idempotency_key_conflict: {
    status: 409,
    title: 'Idempotency key conflict',
    description:
      'The idempotency key was used before with a different body. Use a new key for a new submission.',
  },
  terminal_state: {
    status: 409,
    title: 'Terminal state',
    description:
      'The submission has already ended. `submissionStatus` is its final status. `refund` is the refund of an earlier cancel.',
  },
  solana_disabled: {
    status: 409,
    title: 'Solana rail disabled',
    description: 'Purchase intents are not enabled in this environment.',
  },
  intent_expired: {
    status: 409,
    title: 'Purchase intent expired',
    description:
      'The purchase intent expired before its amount was paid in full. A payment in the grace time after the expiry still counts.',
  },
  intent_failed: {
    status: 409,
    title: 'Purchase intent failed',
    description:
      'The purchase intent ended without credits, although its amount was paid in part or in full. Contact support.',
  },
  reference_conflict: {
    status: 409,
    title: 'Reference conflict',
    description:
      'A purchase with other contents already has this reference. Use a new reference for a new purchase.',
  },
  webhook_url_missing: {
    status: 409,
    title: 'Webhook URL missing',
    description:
      'The webhook URL of the settings or of the endpoint is missing or disabled. Set it first. A delivery of a deleted endpoint cannot be sent again.',
  },
  endpoint_limit: {
    status: 409,
    title: 'Endpoint limit',
    description: 'This tenant has five webhook endpoints. Delete one first.',
  },
  delivery_in_progress: {
    status: 409,
    title: 'Delivery in progress',
    description:
      'An attempt of this delivery is in flight. Repeat the request when the attempt has ended.',
  },
  key_limit: {
    status: 409,
    title: 'Key limit reached',
    description: 'The tenant has 10 or more valid keys. Delete keys until it has at most 9.',
  },
  last_key: {
    status: 409,
    title: 'Last key',
    description:
      'No other valid key of the tenant has all scopes, no addresses and no expiry, or no other one has the scope `settings`. Create such a key first.',
  },
  payload_too_large: {
    status: 413,
    title: 'Payload too large',
    description:
      'The body is larger than 256 KiB, or larger than 8 KiB on an endpoint without authentication.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    description: 'The body is not `application/json` in UTF-8, or it is compressed.',
  },
  misdirected_request: {
    status: 421,
    title: 'Misdirected request',
    description: 'The request did not come over TLS all the way. Use https.',
  },
  validation_error: {
    status: 422,
    title: 'Validation error',
    description:
      'The body is not JSON, or a value in the body or in the query is not valid. `errors` lists what to correct.',
  },
  unknown_job_type: {
    status: 422,
    title: 'Unknown job type',
    description: 'The service has no job type with this name.',
  },
  unknown_tier: {
    status: 422,
    title: 'Unknown tier',
    description: 'The tier is not `standard`, `priority` or `instant`.',
  },
  quote_failed: {
    status: 422,
    title: 'Quote failed',
    description:
      'No rate exists for the job type and tier, or the maximum price is above the largest amount that the service supports.',
  },
  rate_limited: {
    status: 429,
    title: 'Rate limited',
    description:
      'This tenant or address sent too many requests, or another limit is reached, such as that of submissions in flight or of webhook attempts. Repeat after the seconds in `Retry-After`.',
  },
  too_many_intents: {
    status: 429,
    title: 'Too many purchase intents',
    description:
      'The tenant has 100 pending purchase intents. Repeat after the seconds in `Retry-After`. By then, the first of them has expired.',
  },
  headers_too_large: {
    status: 431,
    title: 'Request header fields too large',
    description: 'The URL and headers are larger than 16 KiB together. Shorten them.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    description:
      'The service failed. Repeat the request; repeat a creation with the same idempotency key. If the error persists, report the `requestId`.',
  },
  dispatch_unavailable: {
    status: 503,
    title: 'Dispatch unavailable',
    description:
      'No node has taken the submission. Its hold is released, and you can use the idempotency key again. Repeat the request after the seconds in `Retry-After`.',
  },
  unavailable: {
    status: 503,
    title: 'Service unavailable',
    description:
      'The service cannot answer the request now. Repeat the request after the seconds in `Retry-After`. A creation may have succeeded, so repeat it with the same idempotency key.',
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorCatalogue;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}

export const errorCodes: readonly ErrorCode[] = Object.keys(errorCatalogue).filter(isErrorCode);
