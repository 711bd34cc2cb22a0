import { expect, test } from 'vitest';
import { type ErrorCode, errorCatalogue, errorCodes, isErrorCode } from './errors.ts';

const statuses: Record<number, ErrorCode[]> = {
  400: ['bad_request'],
  401: ['unauthenticated'],
  402: ['insufficient_credits'],
  403: ['job_type_not_allowed', 'operator_only', 'scope_missing'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  408: ['request_timeout'],
  409: [
    'idempotency_key_conflict',
    'terminal_state',
    'solana_disabled',
    'intent_expired',
    'intent_failed',
    'reference_conflict',
    'webhook_url_missing',
    'endpoint_limit',
    'delivery_in_progress',
    'key_limit',
    'last_key',
  ],
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  421: ['misdirected_request'],
  422: ['validation_error', 'unknown_job_type', 'unknown_tier', 'quote_failed'],
  429: ['rate_limited', 'too_many_intents'],
  431: ['headers_too_large'],
  500: ['internal_error'],
  503: ['dispatch_unavailable', 'unavailable'],
};

test('every code of CONTRACT 2 has its status', () => {
  const expected: Record<string, number> = {};
  for (const [status, codes] of Object.entries(statuses)) {
    for (const code of codes) expected[code] = Number(status);
  }
  const found = errorCodes.map((code) => [code, errorCatalogue[code].status]);
  expect(Object.fromEntries(found)).toEqual(expected);
});

test('every code has a unique title and a description in sentences', () => {
  const titles = errorCodes.map((code) => errorCatalogue[code].title);
  expect(new Set(titles).size).toBe(titles.length);
  for (const code of errorCodes) expect(errorCatalogue[code].description).toMatch(/^[A-Z].*\.$/s);
});

test('a name that every object has is not a code', () => {
  expect(isErrorCode('not_found')).toBe(true);
  expect(isErrorCode('toString')).toBe(false);
});
