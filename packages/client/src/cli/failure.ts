import { ApiConnectionError, ApiError } from '../errors.ts';

/** The command cannot do its work. The message says why, and usually what the user can do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /**
   * 2 if this program finds that an argument or an environment variable is missing or wrong. 1 for
   * any other failure, such as a refusal by the service.
   */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

const advice: Readonly<Record<string, string>> = {
  unauthenticated: 'Check SVC_TENANT_ID, SVC_HMAC_SECRET and SVC_KEY_ID.',
  scope_missing: 'Use a key with the scopes read, spend and settings.',
  endpoint_limit:
    'Delete an endpoint that nobody uses, or give `listen` a --name that you used before.',
  insufficient_credits:
    'Ask an operator for sandbox credits, or cancel submissions that hold credits.',
};

export function explain(error: unknown): string {
  if (error instanceof ApiError) {
    const request = error.requestId === null ? '' : ` (request ${error.requestId})`;
    const violations = (error.problem.errors ?? []).map(
      ({ path, message }) => `${path} ${message}.`,
    );
    return [`${error.message}${request}`, ...violations, advice[error.code] ?? ''].join(' ').trim();
  }
  if (error instanceof ApiConnectionError) {
    return `The service does not answer (${reasonOf(error)}). Check SVC_BASE_URL, and whether the service runs.`;
  }
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns the message of the innermost cause of the error, because the error of `fetch` itself says
 * only that the request failed.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  return error.message || error.name;
}
