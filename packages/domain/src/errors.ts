/**
 * One kind of error answer. `title` is the problem's title; `description` is for the documentation
 * of errors.
 */
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
      'The request is not HTTP that can be parsed, or its path is badly percent-encoded.',
  },
  unauthenticated: {
    status: 401,
    title: 'Unauthenticated',
    description:
      'A header of the signature is missing or malformed, the timestamp is further than five minutes from the clock of the service, or the signature is not that of a known, enabled key.',
  },
  insufficient_credits: {
    status: 402,
    title: 'Insufficient credits',
    description:
      'The available credits do not cover the worst case of the quote, which is given in `required`. Nothing is held, and the idempotency key is not used up.',
  },
  job_type_not_allowed: {
    status: 403,
    title: 'Job type not allowed',
    description: 'The job type exists, but is not on the allowlist of this tenant.',
  },
  operator_only: {
    status: 403,
    title: 'Operator only',
    description: 'Only an operator key may call this endpoint.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    description:
      'There is no such route or resource, or it belongs to somebody else; which of these is not told.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    description: 'The route exists, but not with this method; `Allow` lists those it has.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    description: 'The request did not arrive in full within 30 seconds.',
  },
  idempotency_key_conflict: {
    status: 409,
    title: 'Idempotency key conflict',
    description:
      'The idempotency key was used before with a different body. Take a new key for a new submission.',
  },
  terminal_state: {
    status: 409,
    title: 'Terminal state',
    description:
      'The submission has already ended: `submissionStatus` says how, and `refund` what an earlier cancel returned.',
  },
  solana_disabled: {
    status: 409,
    title: 'Solana rail disabled',
    description: 'Purchase intents are not enabled in this environment.',
  },
  intent_expired: {
    status: 409,
    title: 'Purchase intent expired',
    description: 'The purchase intent expired before a payment was final.',
  },
  intent_failed: {
    status: 409,
    title: 'Purchase intent failed',
    description: 'The payment for the purchase intent could not be validated.',
  },
  reference_conflict: {
    status: 409,
    title: 'Reference conflict',
    description: 'The reference of the purchase was used before with other contents.',
  },
  webhook_url_missing: {
    status: 409,
    title: 'Webhook URL missing',
    description: 'No webhook URL is in force; set one in the settings first.',
  },
  delivery_in_progress: {
    status: 409,
    title: 'Delivery in progress',
    description: 'An attempt of this delivery is under way; ask again when it has ended.',
  },
  payload_too_large: {
    status: 413,
    title: 'Payload too large',
    description: 'The body is over 256 KiB, or over 8 KiB on an endpoint without authentication.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    description: 'The body is not declared as `application/json`.',
  },
  misdirected_request: {
    status: 421,
    title: 'Misdirected request',
    description: 'The request did not come over TLS on its whole way. Use https.',
  },
  validation_error: {
    status: 422,
    title: 'Validation error',
    description:
      'The body is not valid JSON or not as its schema wants it, or a query parameter is wrong; `errors` lists where and why.',
  },
  unknown_job_type: {
    status: 422,
    title: 'Unknown job type',
    description: 'The service has no job type of this name.',
  },
  unknown_tier: {
    status: 422,
    title: 'Unknown tier',
    description: 'The tier is none of `standard`, `priority` and `instant`.',
  },
  quote_failed: {
    status: 422,
    title: 'Quote failed',
    description:
      'No rate is in force for the job type and tier, or the amount is more than can be held.',
  },
  rate_limited: {
    status: 429,
    title: 'Rate limited',
    description:
      'Too many requests, or as many submissions in flight as the tenant may have; repeat after the seconds in `Retry-After`.',
  },
  headers_too_large: {
    status: 431,
    title: 'Request header fields too large',
    description: 'The headers of the request are over 16 KiB.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    description:
      'The service failed. Repeat the request, a creation with the same idempotency key, and quote `requestId` if it goes on.',
  },
  dispatch_unavailable: {
    status: 503,
    title: 'Dispatch unavailable',
    description:
      'No node can take the submission now. Its hold is released, and the idempotency key is not used up; repeat later.',
  },
  unavailable: {
    status: 503,
    title: 'Service unavailable',
    description:
      'A part of the service cannot be reached. The outcome of a creation is then unknown: repeat it with the same idempotency key.',
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorCatalogue;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}

export const errorCodes: readonly ErrorCode[] = Object.keys(errorCatalogue).filter(isErrorCode);
