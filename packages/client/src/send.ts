import { type Connection, given } from './connection.ts';
import { ApiConnectionError, ApiTimeoutError } from './errors.ts';
import { answerBytesMax, readText } from './read-text.ts';
import { withTimeLimit } from './time-limit.ts';
import { version } from './version.ts';

export interface RequestParts {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path and query after the base URL. */
  readonly path: string;
  readonly body?: string | undefined;
  /**
   * If true, the request has no signature, and an answer with an error status can be a result.
   * Example: the 503 of `GET /ready`.
   */
  readonly isOpen?: true;
}

/** A complete answer, from the service or from a proxy in front of it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const json = 'application/json';
const userAgent = `svc-client-ts/${version}`;

/**
 * Signs the request unless `isOpen` is set, and sends it. Throws `ApiTimeoutError`,
 * `ApiConnectionError`, the reason of `outerSignal` or an error of `sign`.
 */
export async function send(
  connection: Connection,
  parts: RequestParts,
  outerSignal: AbortSignal | undefined,
  timeoutMs: number,
): Promise<Answer> {
  const { fetch, baseUrl } = connection;
  const url = new URL(baseUrl + parts.path);
  const headers = given({
    accept: json,
    'content-type': parts.body && json,
    'user-agent': userAgent,
    ...(parts.isOpen ? {} : await signatureHeaders(connection, parts, url)),
  });
  return withTimeLimit(outerSignal, timeoutMs, async (signal) => {
    try {
      const response = await fetch(url, {
        method: parts.method,
        headers,
        body: parts.body ?? null,
        // The client does not follow redirects, because a signature is valid for one method and one
        // path with its query. The service would refuse it at another path.
        redirect: 'manual',
        signal,
      });
      const text = await readText(response, answerBytesMax);
      if (text === undefined) throw new ApiConnectionError('The answer has more than 16 MiB.');
      return { status: response.status, headers: response.headers, text };
    } catch (cause) {
      throw cause instanceof ApiTimeoutError || cause instanceof ApiConnectionError
        ? cause
        : new ApiConnectionError('No complete answer arrived.', { cause });
    }
  });
}

async function signatureHeaders(
  { tenantId, keyId, sign, now, clockOffsetMs }: Connection,
  { method, body = '' }: RequestParts,
  url: URL,
): Promise<Record<string, string | undefined>> {
  const timestamp = Math.floor((now() + clockOffsetMs) / 1000);
  const target = url.pathname + url.search;
  return {
    'X-SVC-Tenant': tenantId,
    'X-SVC-Key': keyId,
    'X-SVC-Timestamp': `${timestamp}`,
    'X-SVC-Signature': await sign({ timestamp, method, target, body }),
  };
}
