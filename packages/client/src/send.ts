import type { Connection } from './connection.ts';
import { ApiConnectionError, ApiTimeoutError } from './errors.ts';
import { withTimeLimit } from './time-limit.ts';
import { version } from './version.ts';

/** One request, without its signature. */
export interface RequestParts {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path and query after the base URL. */
  readonly path: string;
  readonly body?: string | undefined;
  /** True if it needs no signature, and its answer may have any status. */
  readonly isOpen?: true;
}

/** A complete answer, from the service or from a proxy before it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const userAgent = `svc-client-ts/${version}`;

/**
 * Sends one request, signed at the present time, and reads its answer. Throws `ApiTimeoutError`,
 * `ApiConnectionError`, or the reason of `signal`.
 */
export async function send(
  connection: Connection,
  parts: RequestParts,
  options: {
    readonly signal: AbortSignal | undefined;
    readonly timeoutMs: number;
  },
): Promise<Answer> {
  const { fetch, baseUrl } = connection;
  const url = new URL(baseUrl + parts.path);
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': userAgent };
  if (parts.body !== undefined) headers['content-type'] = 'application/json';
  if (!parts.isOpen) Object.assign(headers, await signatureHeaders(connection, parts, url));
  return withTimeLimit(options.signal, options.timeoutMs, async (signal) => {
    try {
      const response = await fetch(url, {
        method: parts.method,
        headers,
        body: parts.body ?? null,
        // The signature covers one target, so the target of a redirect would refuse it.
        redirect: 'manual',
        signal,
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (cause) {
      throw cause instanceof ApiTimeoutError
        ? cause
        : new ApiConnectionError('No complete answer arrived.', { cause });
    }
  });
}

async function signatureHeaders(
  { tenantId, keyId, sign, now, clockOffsetMs }: Connection,
  { method, body = '' }: RequestParts,
  url: URL,
): Promise<Record<string, string>> {
  const timestampSeconds = Math.floor((now() + clockOffsetMs) / 1000);
  const target = url.pathname + url.search;
  return {
    'X-SVC-Tenant': tenantId,
    ...(keyId === undefined ? {} : { 'X-SVC-Key': keyId }),
    'X-SVC-Timestamp': `${timestampSeconds}`,
    'X-SVC-Signature': await sign({ timestampSeconds, method, target, body }),
  };
}
