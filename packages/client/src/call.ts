import { type CallOptions, type Connection, given } from './connection.ts';
import { ApiConnectionError, ApiError, apiError } from './errors.ts';
import { retryPauseMs } from './retry.ts';
import { type Answer, type RequestParts, send } from './send.ts';
import type { Problem } from './types.ts';

export interface Call<Result> extends RequestParts {
  /**
   * True if a repeat could do the work twice. Such a call is not repeated after a temporary error.
   */
  readonly isOnce?: boolean | undefined;
  /**
   * The milliseconds that the service may wait before it answers. They are added to the time limit
   * of each request.
   */
  readonly waitMs?: number;
  /** Reads the text of an answer. Undefined if the text is not a result of this call. */
  readonly read: (text: string) => Result | undefined;
  /**
   * Reads the error of a repeat. Returns a result if the error shows that an earlier attempt has
   * succeeded.
   */
  readonly readRepeat?: (error: ApiError) => Result | undefined;
}

const requestIdHeader = 'x-request-id';
const requestIds = new WeakMap<object, string>();

/**
 * The request id of an answer. `answer` is an object with which a call resolved, or a page of a
 * list. Undefined for any other object, and if the answer had no request id.
 */
export function requestIdOf(answer: object): string | undefined {
  return requestIds.get(answer);
}

function withRequestId<Result>(result: Result, requestId: string | null): Result {
  if (isObject(result) && requestId) requestIds.set(result, requestId);
  return result;
}

/**
 * Returns undefined if the text is not JSON. The return type is `any`, as for `JSON.parse`, so the
 * caller must check the value.
 */
export function parseJson(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Makes a `read` function for a JSON object that has this member. The function returns undefined
 * for any other text.
 */
export function having<Result extends object>(member: keyof Result & string) {
  return (text: string): Result | undefined => {
    const value: Result | undefined = parseJson(text);
    return isObject(value) && member in value ? value : undefined;
  };
}

function errorOf({ status, headers, text }: Answer): ApiError {
  const problem: Partial<Problem> | null | undefined = status >= 400 ? parseJson(text) : undefined;
  return apiError(
    status,
    headers.get(requestIdHeader),
    problem && typeof problem.code === 'string' ? problem : {},
  );
}

/**
 * The client corrects its clock only from this difference on. It is 2 s below the limit of the
 * service (300 s), because the times in headers are whole seconds.
 */
const clockDifferenceMsMin = 298_000;

/**
 * Returns the clock of the service minus the local clock, in milliseconds. Returns undefined if the
 * service did not refuse the timestamp, and NaN if the answer has no date.
 */
function offsetFrom(answer: Answer, error: ApiError, nowMs: number): number | undefined {
  if (error.status !== 401 || !error.detail.includes('X-SVC-Timestamp')) return undefined;
  return Date.parse(answer.headers.get('date') ?? '') - nowMs;
}

type Outcome<Result> =
  | { readonly result: Result; readonly error?: undefined; readonly answer?: undefined }
  | {
      readonly result?: undefined;
      readonly error: ApiError | ApiConnectionError;
      readonly answer?: Answer;
    };

async function attempt<Result>(
  connection: Connection,
  call: Call<Result>,
  signal: AbortSignal | undefined,
  timeoutMs: number,
): Promise<Outcome<Result>> {
  try {
    const answer = await send(connection, call, signal, timeoutMs);
    const isOk = answer.status >= 200 && answer.status < 300;
    const result = isOk || call.isOpen ? call.read(answer.text) : undefined;
    if (result === undefined) return { error: errorOf(answer), answer };
    return { result: withRequestId(result, answer.headers.get(requestIdHeader)) };
  } catch (error) {
    if (error instanceof ApiConnectionError) return { error };
    throw error;
  }
}

/**
 * Makes a call, and repeats it after temporary errors unless `isOnce` is set. Throws the last
 * error.
 */
export async function callService<Result>(
  connection: Connection,
  call: Call<Result>,
  options: CallOptions = {},
): Promise<Result> {
  const { timeoutMs = Infinity, ...settings } = { ...connection, ...given(options) };
  const { signal, maxRetries } = settings;
  const startMs = connection.elapsed();
  const attemptMs = connection.requestTimeoutMs + (call.waitMs ?? 0);
  const offsetBeforeMs = connection.clockOffsetMs;
  let mayCorrectClock = true;
  for (let retries = 0; ;) {
    const leftMs = timeoutMs - (connection.elapsed() - startMs);
    const usedMs = connection.clockOffsetMs;
    const { result, error, answer } = await attempt(
      connection,
      call,
      signal,
      Math.max(1, Math.min(attemptMs, leftMs)),
    );
    if (!error) return result;
    if (error instanceof ApiError && answer) {
      const repeated = retries > 0 ? call.readRepeat?.(error) : undefined;
      if (repeated) return withRequestId(repeated, error.requestId);
      const offsetMs = offsetFrom(answer, error, connection.now());
      // The service refused the timestamp and did nothing else, so even a call with `isOnce` is
      // repeated.
      if (offsetMs !== undefined) {
        const hasDifference = Math.abs(offsetMs - usedMs) > clockDifferenceMsMin;
        if (mayCorrectClock && hasDifference) {
          mayCorrectClock = false;
          connection.clockOffsetMs = offsetMs;
          continue;
        }
        // If the service refused the corrected clock too, the previous offset is restored.
        if (!mayCorrectClock) connection.clockOffsetMs = offsetBeforeMs;
      }
    }
    const pauseMs = retryPauseMs(error, retries, answer, settings);
    const spentMs = connection.elapsed() - startMs;
    const isLast = call.isOnce || retries >= maxRetries || pauseMs === undefined;
    if (isLast || spentMs + pauseMs >= timeoutMs) throw error;
    await connection.sleep(pauseMs, signal);
    retries += 1;
  }
}
