import { ApiError, type Problem, WaitTimeoutError } from './errors.ts';
import { signRequest } from './request-signature.ts';
import type {
  Cancellation,
  CreditBalance,
  EndedSubmission,
  RateCard,
  Readiness,
  Submission,
  SubmissionCreated,
  SubmissionRequest,
} from './types.ts';

export interface ClientOptions {
  /** The base URL of the environment, `https://…`, with or without a trailing slash. */
  readonly baseUrl: string;
  readonly tenantId: string;
  /** The whole HMAC secret, `hsk_…`. */
  readonly secret: string;
  readonly fetch?: typeof globalThis.fetch;
  /** The clock: milliseconds since 1970. Requests fail if it is off by more than five minutes. */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number) => Promise<void>;
  /** The timeout of one request. A creation waits up to six seconds for a node. */
  readonly requestTimeoutMs?: number;
}

/**
 * Each method throws `ApiError` if the service answers with an error, or the error of `fetch` if
 * there is no answer. Every call is safe to repeat. Repeat a submission with the same key.
 */
export interface Client {
  submit(request: SubmissionRequest): Promise<SubmissionCreated>;
  getSubmission(submissionId: string): Promise<Submission>;
  /** Throws `ApiError` with code `terminal_state` if the submission has ended. Its problem says how. */
  cancel(submissionId: string): Promise<Cancellation>;
  balance(): Promise<CreditBalance>;
  rateCard(): Promise<RateCard>;
  /**
   * Polls until the submission has ended, and continues after temporary errors. Webhooks report the
   * end sooner. Throws `WaitTimeoutError` after `timeoutMs`.
   */
  waitFor(submissionId: string, options: { readonly timeoutMs: number }): Promise<EndedSubmission>;
  /** Needs no credentials. `not_ready` is an answer, not an error. */
  ready(): Promise<Readiness>;
}

const requestTimeoutMsDefault = 30_000;
const pollFirstMs = 250;
const pollGrowth = 1.5;
const pollMaxMs = 2000;

type Connection = Required<ClientOptions>;

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly timeoutMs?: number;
}

function signedHeaders(connection: Connection, call: Call, url: URL): Record<string, string> {
  const timestampSeconds = Math.floor(connection.now() / 1000);
  const { method, body = '' } = call;
  const target = url.pathname + url.search;
  return {
    'X-SVC-Tenant': connection.tenantId,
    'X-SVC-Timestamp': String(timestampSeconds),
    'X-SVC-Signature': signRequest({
      secret: connection.secret,
      timestampSeconds,
      method,
      target,
      body,
    }),
  };
}

async function send(connection: Connection, call: Call, isSigned: boolean): Promise<Response> {
  const url = new URL(connection.baseUrl.replace(/\/+$/, '') + call.path);
  const { fetch } = connection;
  return await fetch(url, {
    method: call.method,
    headers: {
      accept: 'application/json',
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(isSigned ? signedHeaders(connection, call, url) : {}),
    },
    ...(call.body === undefined ? {} : { body: call.body }),
    // The signature covers one target, so the target of a redirect would refuse it.
    redirect: 'manual',
    signal: AbortSignal.timeout(call.timeoutMs ?? connection.requestTimeoutMs),
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON object in the body of an answer. Null if the body is not a JSON object. */
async function readObject(response: Response): Promise<Readonly<Record<string, unknown>> | null> {
  const text = await response.text();
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isProblem(
  value: Readonly<Record<string, unknown>> | null,
): value is Problem & typeof value {
  return value !== null && typeof value['code'] === 'string';
}

async function request<Result extends object>(
  connection: Connection,
  call: Call,
  isExpected: (value: object) => value is Result,
): Promise<Result> {
  const response = await send(connection, call, true);
  const value = await readObject(response);
  if (response.ok && value !== null && isExpected(value)) return value;
  const problem = !response.ok && isProblem(value) ? value : {};
  throw new ApiError(response.status, response.headers.get('x-request-id'), problem);
}

/** Recognises an answer by one required member. */
function having<Result extends object>(member: keyof Result) {
  return (value: object): value is Result => member in value;
}

function submissionPath(submissionId: string): string {
  return `/v1/submissions/${encodeURIComponent(submissionId)}`;
}

function getSubmission(
  connection: Connection,
  submissionId: string,
  timeoutMs = connection.requestTimeoutMs,
): Promise<Submission> {
  const call: Call = { method: 'GET', path: submissionPath(submissionId), timeoutMs };
  return request(connection, call, having<Submission>('id'));
}

function hasEnded(submission: Submission): submission is EndedSubmission {
  return ['submitted', 'failed', 'cancelled'].includes(submission.status);
}

/** True for errors that do not concern the submission: rate limits, outages, connection errors. */
function isPassing(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 429 || error.status >= 500;
}

async function waitFor(
  connection: Connection,
  submissionId: string,
  timeoutMs: number,
): Promise<EndedSubmission> {
  const deadlineMs = connection.now() + timeoutMs;
  let pauseMs = pollFirstMs;
  let last: Submission | null = null;
  let cause: unknown;
  for (;;) {
    const leftMs = Math.max(1, deadlineMs - connection.now());
    try {
      const requestTimeoutMs = Math.ceil(Math.min(leftMs, connection.requestTimeoutMs));
      last = await getSubmission(connection, submissionId, requestTimeoutMs);
      cause = undefined;
      if (hasEnded(last)) return last;
    } catch (error) {
      if (!isPassing(error)) throw error;
      cause = error;
    }
    const askedSeconds = cause instanceof ApiError ? (cause.problem.retryAfterSeconds ?? 0) : 0;
    const waitMs = Math.max(pauseMs, askedSeconds * 1000);
    if (connection.now() + waitMs > deadlineMs) {
      throw new WaitTimeoutError(submissionId, timeoutMs, last, cause);
    }
    await connection.sleep(waitMs);
    pauseMs = Math.min(pauseMs * pollGrowth, pollMaxMs);
  }
}

async function ready(connection: Connection): Promise<Readiness> {
  const response = await send(connection, { method: 'GET', path: '/ready' }, false);
  const value = await readObject(response);
  if (value !== null && isReadiness(value)) return value;
  throw new ApiError(response.status, response.headers.get('x-request-id'), {});
}

function isReadiness(value: Readonly<Record<string, unknown>>): value is Readiness & typeof value {
  return value['status'] === 'ready' || value['status'] === 'not_ready';
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/** Creates a client that signs requests and returns typed answers. It holds no sockets or timers. */
export function createClient(options: ClientOptions): Client {
  const connection: Connection = {
    baseUrl: options.baseUrl,
    tenantId: options.tenantId,
    secret: options.secret,
    fetch: options.fetch ?? globalThis.fetch,
    now: options.now ?? Date.now,
    sleep: options.sleep ?? sleep,
    requestTimeoutMs: options.requestTimeoutMs ?? requestTimeoutMsDefault,
  };
  return {
    submit: (submission) => {
      const body = JSON.stringify(submission);
      const call: Call = { method: 'POST', path: '/v1/submissions', body };
      return request(connection, call, having<SubmissionCreated>('submissionId'));
    },
    getSubmission: (submissionId) => getSubmission(connection, submissionId),
    cancel: (submissionId) => {
      const call: Call = { method: 'POST', path: `${submissionPath(submissionId)}/cancel` };
      return request(connection, call, having<Cancellation>('refund'));
    },
    balance: () => {
      const call: Call = { method: 'GET', path: '/v1/credits/balance' };
      return request(connection, call, having<CreditBalance>('available'));
    },
    rateCard: () => {
      const call: Call = { method: 'GET', path: '/v1/rate-card' };
      return request(connection, call, having<RateCard>('jobTypes'));
    },
    waitFor: (submissionId, { timeoutMs }) => waitFor(connection, submissionId, timeoutMs),
    ready: () => ready(connection),
  };
}
