export { requestIdOf } from './call.ts';
export * from './client-methods.ts';
export * from './client.ts';
export type { CallOptions, ClientOptions } from './connection.ts';
export {
  ApiConnectionError,
  ApiError,
  ApiTimeoutError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InsufficientCreditsError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  SvcError,
  unrecognisedAnswer,
  ValidationError,
  WaitTimeoutError,
  WebhookVerificationError,
} from './errors.ts';
export type { Pages } from './pages.ts';
export type * from './types.ts';
export * from './verify-webhook.ts';
export { version } from './version.ts';
